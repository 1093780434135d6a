import type { Logger } from '../runtime/logger.ts'

// What an agent threw must not move the cursor of whoever reads it. Only tabs stay as they are.
const controls = /[\p{Cc}\u2028\u2029]/gu

/**
 * What goes wrong, as text for whoever has started a program of their own at a terminal. What merely happens is not told: a program
 * that wants to know that brings a logger.
 */
export function stderrLog(write: (text: string) => void): Logger {
  const tell = (facts: object, message: string): void => {
    const { err, ...about } = facts as { readonly err?: unknown } & Record<string, unknown>
    const named = Object.entries(about).map(([name, value]) => `${visible(name)} ${worded(value)}`)
    const where = named.length > 0 ? ` (${named.join(', ')})` : ''
    write(`holdfast: ${visible(message)}${where}\n${err === undefined ? '' : indented(errorText(err))}`)
  }
  return { debug() {}, info() {}, warn: tell, error: tell }
}

function worded(value: unknown): string {
  return visible(typeof value === 'string' ? value : textOf(() => JSON.stringify(value)))
}

/** An error of the runtime tells its stack when it is put into a text; of others that has to be asked for. */
function errorText(err: unknown): string {
  return textOf(() => (err instanceof Error ? (err.stack ?? String(err)) : String(err)))
}

/** What cannot be put into a text is told all the same. */
function textOf(make: () => unknown): string {
  try {
    return String(make())
  } catch {
    return '(it cannot be shown)'
  }
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${visible(line)}\n`)
    .join('')
}

function visible(text: string): string {
  return text.replace(controls, (control) => (control === '\t' ? control : '\uFFFD'))
}
