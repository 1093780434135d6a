import type { ClientClock } from '../client/index.ts'

/** The world around a command. The program makes one of its process; tests make their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where the command was started. */
  readonly folder: string
  /** Data, and nothing else. */
  readonly out: (text: string) => void
  /** Progress, hints and errors. */
  readonly err: (text: string) => void
  readonly input: NodeJS.ReadStream
  readonly isTty: { readonly out: boolean; readonly err: boolean; readonly input: boolean }
  /** How wide and how high the terminal is now. */
  readonly columns: () => number
  readonly rows: () => number
  /** Calls back at each SIGINT, and returns what ends that. While nobody listens, SIGINT ends the process. */
  readonly onInterrupt: (listener: () => void) => () => void
  /** Calls back when nobody reads `out` any more, as under `| head -1`, and returns what ends that. */
  readonly onOutputClosed: (listener: () => void) => () => void
  readonly clock: ClientClock
}
