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

/** The log of a runtime that was given none: it says nothing, until somebody listens. */
export class UnheardLog implements Logger {
  #heardBy: Logger = silentLogger

  hear(log: Logger): void {
    this.#heardBy = log
  }

  debug(facts: object, message: string): void {
    this.#heardBy.debug(facts, message)
  }

  info(facts: object, message: string): void {
    this.#heardBy.info(facts, message)
  }

  warn(facts: object, message: string): void {
    this.#heardBy.warn(facts, message)
  }

  error(facts: object, message: string): void {
    this.#heardBy.error(facts, message)
  }
}

/** Says nothing: a library stays quiet unless it is given a logger. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}
