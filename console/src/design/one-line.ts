import { harmlessText } from './harmless-text.ts'

const lengthMax = 240

/** A value in one line, cut where nobody reads on. It is data of others: nothing in it acts on the page. */
export function oneLine(value: unknown, countMax = lengthMax): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const line = harmlessText(text.slice(0, countMax * 2))
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > countMax ? `${line.slice(0, countMax)}…` : line
}
