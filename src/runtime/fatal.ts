import type { Logger } from './logger.ts'

export interface FatalParts {
  readonly log: Logger
  /** The state of the store is unknown, and only stopping helps. */
  onFatal(error: unknown): void
}

/** Whoever is told may throw; what was to be done about the failure is done all the same. */
export function tellFatal(parts: FatalParts, error: unknown): void {
  try {
    parts.onFatal(error)
  } catch (thrown) {
    parts.log.error({ err: thrown }, 'onFatal threw')
  }
}

/** Nothing is known of the file any more; going on could tell somebody that something is stored which is not. */
export function endProcess(error: unknown): never {
  process.stderr.write(`holdfast: the store failed and its state is unknown; the process ends. ${String(error)}\n`)
  process.exit(1)
}
