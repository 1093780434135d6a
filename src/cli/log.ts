import pino, { type Logger } from 'pino'
import { redactor } from './redact.ts'
import type { LogLevel } from './settings.ts'

// When nobody reads the log, it is the log that is dropped: no request waits for it, and the memory stays bounded.
const unwrittenBytesMax = 16 * 1024 * 1024

// JSON leaves these as they are; some readers of lines end one there, and a terminal takes some of them as commands.
const unprintable = /[\u007f-\u009f\u2028\u2029]/g

/** JSON lines on stderr. What is unwritten when the process exits by itself is written then. */
export function createLog(level: LogLevel, secrets: readonly string[]): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: unwrittenBytesMax })
  const redact = redactor(secrets)
  const streamWrite = (line: string) => redact(line).replace(unprintable, escaped)
  return pino({ level, base: null, hooks: { streamWrite } }, destination)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
