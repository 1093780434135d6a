import { fitsIn } from './fits-in.ts'
import type { JsonText } from './id.ts'

/** A field that may be left out of an event the runtime makes, because it is read from the record instead. */
export interface Omission {
  /** Where the field is, if not at the top. */
  readonly path?: string
  readonly field: 'input' | 'result' | 'parts' | 'output'
}

/**
 * What whoever reads an event puts back into a task, message or question that stands in it: `seq`, and one instant, each with its
 * comma and as many digits as it may have.
 */
export const stampBytes = 64

/** Encodes the data of an event, without that field if it would be too large with it. */
export function encodeWithin(data: object, bytesMax: number, omit?: Omission): JsonText {
  const text = JSON.stringify(data)
  if (!omit || fitsIn(text, omit.path === undefined ? bytesMax : bytesMax - stampBytes)) return text
  const whole: Record<string, unknown> = { ...data }
  const holder = omit.path === undefined ? whole : { ...(whole[omit.path] as Record<string, unknown>) }
  delete holder[omit.field]
  if (omit.path !== undefined) whole[omit.path] = holder
  return JSON.stringify({ ...whole, [`${omit.field}Omitted`]: true })
}
