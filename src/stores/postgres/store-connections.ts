import { Connection, type ConnectionSettings, type Timeouts } from './connection.ts'
import { Connections, Opener } from './connections.ts'
import { Lane } from './lane.ts'
import type { Location } from './location.ts'
import { Notices } from './notices.ts'
import {
  decidingSettings,
  missingSettings,
  settingsFor,
  timeoutMsFor,
  timeoutMsMax,
  writerSettings,
} from './session-settings.ts'

export interface StoreConnectionsOptions {
  readonly readers?: number
  /** How long a server may take to answer whoever connects. */
  readonly connectMs: number
  warn(text: string): void
}

const readersDefault = 6
const decidersMax = 2
/**
 * As many connections as a node has at most: its readers, those it decides by, one that reads what it goes on with, one that
 * writes, one that tells and one that listens.
 */
export const connectionsPerNode: number = readersDefault + decidersMax + 4
// A reader holds nothing that others wait for.
const readTimeoutMs = 30_000
// The server gives a statement up before; without an answer by then the network has lost it.
const answerMs = readTimeoutMs + 5_000

/**
 * The connections of a store, by what they are for.
 *
 * K1 A server that is replaced by another may take no writes any more and keep its connections. Whoever writes is refused there and
 *    connects anew. Whoever reads and listens would stay, with what is out of date, so they leave once something was written
 *    elsewhere; before that there may be no other server.
 */
export class StoreConnections {
  readonly lane: Lane
  readonly reading: Connections
  readonly deciding: Connections
  /** Reads what is taken over. */
  readonly resuming: Connections
  readonly notices: Notices
  #timeoutMs = timeoutMsMax
  /** A write was refused since the last one that was done. */
  #isReadOnly = false
  readonly #warn: (text: string) => void
  #isPooled = false
  /** The lease for which it was looked at what a pooler's connections have. */
  #lookedFor: number | undefined

  constructor(place: Location, { readers = readersDefault, connectMs, warn }: StoreConnectionsOptions) {
    this.#warn = warn
    const timeouts = { timeoutMs: answerMs, connectMs }
    const open = (settings: ConnectionSettings, limits?: Timeouts) => this.#open(place, settings, limits)
    const opener = (settings: ConnectionSettings) => new Opener(() => open(settings, timeouts))
    const decider = new Opener(() => open(decidingSettings(this.#timeoutMs), timeouts))
    const writer = new Opener(() => open(writerSettings(this.#timeoutMs)))
    this.lane = new Lane(writer, place.name, this.#timeoutMs)
    this.reading = new Connections(opener(settingsFor(readTimeoutMs)), readers, place.name)
    this.deciding = new Connections(decider, decidersMax, place.name)
    this.resuming = new Connections(opener(settingsFor(readTimeoutMs)), 1, place.name)
    this.notices = new Notices(opener(settingsFor(readTimeoutMs)), opener({}), warn)
  }

  /** Has nothing of a node stand in the way of others for a third of its lease. What says so is the opening of a connection. */
  limitTo(leaseMs: number): void {
    if (this.#isPooled && this.#lookedFor !== leaseMs) void this.#look(leaseMs)
    const timeoutMs = timeoutMsFor(leaseMs)
    if (timeoutMs === this.#timeoutMs) return
    this.#timeoutMs = timeoutMs
    this.lane.limit(timeoutMs)
    this.deciding.retire()
  }

  /** Says what the server does not set for a node that cannot. If that is not answered, it is asked with the next renewal. */
  async #look(leaseMs: number): Promise<void> {
    this.#lookedFor = leaseMs
    try {
      const missing = await this.reading.use((connection) => missingSettings(connection, leaseMs))
      if (missing.length > 0) this.#warn(unset(missing))
    } catch {
      this.#lookedFor = undefined
    }
  }

  /** Something was written. K1. */
  wrote(): void {
    if (!this.#isReadOnly) return
    this.#isReadOnly = false
    for (const each of [this.reading, this.deciding, this.resuming, this.notices]) each.retire()
  }

  async close(): Promise<void> {
    const { lane, reading, deciding, resuming, notices } = this
    await Promise.all([lane, reading, deciding, resuming, notices].map((each) => each.close()))
  }

  async #open(place: Location, settings: ConnectionSettings, limits?: Timeouts): Promise<Connection> {
    const connection = await Connection.open(place, settings, limits)
    connection.onLost(() => {
      this.#isReadOnly ||= connection.isReadOnly
    })
    this.#isPooled ||= connection.isPooled
    return connection
  }
}

function unset(missing: readonly string[]): string {
  return (
    'A pooler stands between this node and PostgreSQL, so the node sets nothing on its connections, and the server does not set ' +
    'what it would: a node that freezes may keep others from what it holds for longer than its lease. Run this, and have the ' +
    `pooler open its connections anew: ${missing.join('; ')}`
  )
}
