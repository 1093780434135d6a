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
    const named = Object.entries(about).map(([name, value]) => `${name} ${worded(value)}`)
    const where = named.length > 0 ? ` (${named.join(', ')})` : ''
    write(`holdfast: ${message}${where}\n${err === undefined ? '' : indented(errorText(err))}`)
  }
  return { debug() {}, info() {}, warn: tell, error: tell }
}

function worded(value: unknown): string {
  return visible(typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)))
}

/** What the runtime made of an error of an agent tells its stack by `toString`; an `Error` only if it is asked for it. */
function errorText(err: unknown): string {
  return err instanceof Error ? (err.stack ?? String(err)) : String(err)
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
