let segmenter: Intl.Segmenter | undefined

/** A text by what is one character to a reader. To make a segmenter takes longer than many a command that needs none. */
export function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

// East Asian Wide and Fullwidth of Unicode, joined where only unassigned characters stand between.
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2})/u
const zeroWidth = /^[\p{Mark}\p{Format}]/u

/** How many columns of a terminal a text takes that has no control characters. */
export function displayWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is plain ASCII, the usual case, is as wide as it is long.
  if (/^[\u0000-\u007f]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment)
  return width
}

/** The text, or as much of it as fits with an ellipsis. Never half of what is one character to a reader. */
export function cut(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  if (columns < 1) return ''
  let [kept, width] = ['', 0]
  for (const { segment } of graphemes(text)) {
    width += graphemeWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}
