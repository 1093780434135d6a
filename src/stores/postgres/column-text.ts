const plain = /^[^"\\\p{Cc}\p{Cs}]*$/u

/**
 * Names, ids and keys as their columns hold them. PostgreSQL keeps no NUL and no lone surrogate, so what it could not keep is
 * written as JSON escapes it; all usual texts are as they are, and two texts never become one.
 */
export function toColumn(text: string): string {
  return plain.test(text) ? text : JSON.stringify(text).slice(1, -1)
}

export function fromColumn<Text extends string>(column: Text): Text {
  return column.includes('\\') ? (JSON.parse(`"${column}"`) as Text) : column
}

export function toOptional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toColumn(text)
}

export function toNullable(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text)
}

const asJsonEscapes = /[\p{Cc}\p{Cs}]/u

/** As SQL writes an array, which the server reads faster than JSON. What is absent is null. */
export function arrayText(values: readonly (string | number | boolean | undefined)[]): string {
  // JSON escapes quotes and backslashes as an array does, and nothing else of what is written here; but for odd texts.
  const isOdd = values.some((value) => typeof value === 'string' && asJsonEscapes.test(value))
  return isOdd ? `{${values.map(elementText).join()}}` : `{${JSON.stringify(values).slice(1, -1)}}`
}

function elementText(value: string | number | boolean | undefined): string {
  return typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : String(value ?? null)
}
