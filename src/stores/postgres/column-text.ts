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
