import { HoldfastError } from './errors.ts'

/** A cursor of `count` whole numbers, such as `17` or `1700000000000.12.17`. */
export function parseNumbers(cursor: string, count: number): number[] {
  const parts = cursor.split('.')
  if (parts.length === count && parts.every((part) => /^[0-9]{1,16}$/.test(part))) return parts.map(Number)
  throw badCursor()
}

export function badCursor(): HoldfastError {
  return new HoldfastError('invalid_request', 'The cursor is not one that a page of this list gave: begin without one')
}
