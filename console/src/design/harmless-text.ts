// Escape sequences of terminals: colours, cursor, titles. They say nothing to a reader of a page.
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|\u009b[0-?]*[ -/]*[@-~]/g

// Control characters but for tab and line end; and those that turn the direction of what follows, with which a text can be
// made to read as another than it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g

/** What a model or a tool wrote, with everything in it that could act on a screen removed, or shown as what it is. */
export function harmlessText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(sequences, '').replace(unseen, shown)
}

function shown(character: string): string {
  const code = character.charCodeAt(0)
  // There are pictures of the first control characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

const schemes = ['http:', 'https:', 'mailto:']

/** An address that a link may lead to; undefined for any other, relative ones too. */
export function harmlessUrl(text: string): string | undefined {
  try {
    const url = new URL(text)
    return schemes.includes(url.protocol) ? url.href : undefined
  } catch {
    return undefined
  }
}
