/** The words of a text, in small letters. A name such as `createRuntime` or `limit_reached` counts whole, and each of its parts. */
export function wordsOf(text: string): readonly string[] {
  return (text.normalize('NFKC').match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((name) => {
    const parts = name.match(/\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})|[^\p{L}\p{N}_]+/gu) ?? []
    const whole = name.toLowerCase()
    return parts.length > 1 ? [whole, ...parts.map((part) => part.toLowerCase())] : [whole]
  })
}

/** The words that somebody searches for, as they typed them. */
export function queryWords(query: string): readonly string[] {
  return [
    ...new Set(
      query
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}_]+/gu),
    ),
  ]
}
