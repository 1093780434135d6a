import { stripVTControlCharacters } from 'node:util'

// What a terminal takes as a command, what ends a line for some readers, and what turns the direction of writing around.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above, but for the end of a line and the tab.
const unprintableButLines = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

/** Text of a model or of a stranger, as it may be shown: lines and tabs stay, a terminal is told nothing. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(unprintableButLines, '')
}

/** The same on one line, whatever it holds. Spaces of its own stay. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replace(unprintable, (run, at: number, whole: string) => {
    const isInside = at > 0 && at + run.length < whole.length
    return isInside ? ' ' : ''
  })
}
