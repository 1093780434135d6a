import type { JsonText } from '../../core/id.ts'

/** Between texts that go to the server as one. JSON text holds no raw control character, and neither do ids, types and step keys. */
export const separator = '\u0001'

/**
 * JSON text in rows that may be long: inputs, results and the like. In the lists it would be escaped twice, which for some
 * megabytes takes a tenth of a second on each side. So it goes beside them, as it is.
 */
export class PackedTexts {
  readonly texts: string[] = []

  /** What stands in the row instead: the place of the text, from 1 on as SQL counts. */
  placeOf(text: JsonText | undefined): number | undefined {
    return text === undefined ? undefined : this.texts.push(checkedText(text, 'A text'))
  }
}

/** Throws if the text could not be told from its neighbours. */
export function checkedText(text: string, what: string): string {
  if (!text.includes(separator)) return text
  throw new Error(`${what} holds a raw control character`)
}
