// JSON leaves these as they are; some readers of lines end one there, and a terminal takes some of them as commands or turns
// the direction of writing around.
const unescaped = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export function jsonText(value: unknown, indent?: number): string {
  return printableJson(JSON.stringify(value, undefined, indent))
}

/** The same JSON, safe to be shown: what is escaped only ever stands inside texts, where an escape means the same. */
export function printableJson(json: string): string {
  return json.replace(unescaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
