const units: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
]

/** How long something takes or took, in its largest unit: `3s`, `4m`, `2h`, `5d`. Clocks that differ make no negative age. */
export function age(ms: number): string {
  const [unitMs, unit] = units.find(([each]) => ms >= each) ?? [1000, 's']
  return `${Math.max(0, Math.floor(ms / unitMs))}${unit}`
}

/** How long something took, where tenths of a second tell something: `0.3s`, `4.2s`, `3m`. */
export function duration(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : age(ms)
}

/** An instant as people write it, in the time zone of the machine: `2026-03-01 14:05:09`. */
export function instant(at: number): string {
  const parts = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${parts.getFullYear()}-${two(parts.getMonth() + 1)}-${two(parts.getDate())}`
  return `${day} ${two(parts.getHours())}:${two(parts.getMinutes())}:${two(parts.getSeconds())}`
}
