import type { Client } from '../client.ts'
import type { ClientClock } from '../clock.ts'
import type { Schedule } from './schedule.ts'
import type { Watch } from './watch.ts'

/** What every live model is made of. */
export interface LiveParts {
  readonly client: Client
  readonly clock: ClientClock
  readonly schedule: Schedule
  /** From 0 to 1; spreads the tries of pages that were refused together. */
  readonly random: () => number
  readonly watch: Watch
  /** How many rows a list begins with, and grows by when more are asked for. */
  readonly pageCount: number
}
