import pino, { type Logger } from 'pino'
import type { LogLevel } from '../../index.ts'
import { printableJson } from '../show/json-text.ts'
import { redactor } from './redact.ts'

// When nobody reads the log, it is the log that is dropped: no request waits for it, and the memory stays bounded.
const unwrittenBytesMax = 16 * 1024 * 1024

/** JSON lines on stderr. What is unwritten when the process exits by itself is written then. */
export function createLog(level: LogLevel, secrets: readonly string[]): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: unwrittenBytesMax })
  const redact = redactor(secrets)
  const streamWrite = (line: string) => printableJson(redact(line))
  return pino({ level, base: null, hooks: { streamWrite } }, destination)
}
