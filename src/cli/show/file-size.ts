const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size as a person reads it: `412 bytes`, `3.1 MiB`. */
export function fileSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}
