/**
 * Where the runtime writes what people who operate it need to know. A pino logger fits as it is; an error is under `err`, where
 * pino writes its message and cause.
 */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** A logger whose failures are its own: nobody who logs can do anything about them. */
export function harmless(log: Logger): Logger {
  const level = (name: keyof Logger) => (facts: object, message: string) => {
    try {
      log[name](facts, message)
    } catch {
      // Logging it would fail the same way.
    }
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** Says nothing: a library stays quiet unless it is given a logger. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}
