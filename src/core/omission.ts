import { fitsIn } from './fits-in.ts'
import type { JsonText } from './id.ts'

/** A field that may be left out of an event the runtime makes, because it is read from the record instead. */
export interface Omission {
  /** Where the field is, if not at the top. */
  readonly path?: string
  readonly field: 'input' | 'result' | 'parts' | 'output'
}

/** Encodes the data of an event, without that field if it would be too large with it. */
export function encodeWithin(data: object, bytesMax: number, omit?: Omission): JsonText {
  const text = JSON.stringify(data)
  if (!omit || fitsIn(text, bytesMax)) return text
  const whole: Record<string, unknown> = { ...data }
  const holder = omit.path === undefined ? whole : { ...(whole[omit.path] as Record<string, unknown>) }
  delete holder[omit.field]
  if (omit.path !== undefined) whole[omit.path] = holder
  return JSON.stringify({ ...whole, [`${omit.field}Omitted`]: true })
}
