const width = 120
const height = 28

/** How a figure moved lately. It is beside the figure itself, so nothing is lost on who does not see it. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  if (values.length < 2) return null
  const top = Math.max(...values, 1)
  const points = values.map((value, at) => {
    const x = (at / (values.length - 1)) * width
    return `${x.toFixed(1)},${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`
  })
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      className="absolute right-4 bottom-4 hidden h-7 w-24 text-run sm:block"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
