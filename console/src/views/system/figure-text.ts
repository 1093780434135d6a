const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export function numberText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : numbers.format(value)
}

export function rateText(value: number | undefined): string | undefined {
  return numberText(value === undefined || value < 10 ? value : Math.round(value))
}

export function durationText(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined
  return seconds < 1 ? `${numbers.format(seconds * 1000)} ms` : `${numbers.format(seconds)} s`
}

export function bytesText(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${numbers.format(bytes / 1000 ** power)} ${units[power]}`
}
