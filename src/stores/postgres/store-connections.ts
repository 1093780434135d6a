import { Connection, type ConnectionSettings } from './connection.ts'
import { Connections, Opener } from './connections.ts'
import { Lane } from './lane.ts'
import type { Location } from './location.ts'
import { Notices } from './notices.ts'
import { decidingSettings, settingsFor, writerSettings } from './session-settings.ts'

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
// Of commits, and of what a node decides by: a claim and new task numbers hold rows that other nodes wait for. Below a third of the
// default lease, so that a node that is frozen in a transaction never outlives its lease in it.
const timeoutMsMax = 4_500

/** The connections of a store, by what they are for. */
export class StoreConnections {
  readonly lane: Lane
  readonly reading: Connections
  readonly deciding: Connections
  /** Reads what is taken over. */
  readonly resuming: Connections
  readonly notices: Notices
  #timeoutMs = timeoutMsMax

  constructor(place: Location, { readers = readersDefault, connectMs, warn }: StoreConnectionsOptions) {
    const timeouts = { timeoutMs: answerMs, connectMs }
    const opener = (settings: ConnectionSettings) => new Opener(() => Connection.open(place, settings, timeouts))
    const decider = new Opener(() => Connection.open(place, decidingSettings(this.#timeoutMs), timeouts))
    const writer = new Opener(() => Connection.open(place, writerSettings(this.#timeoutMs)))
    this.lane = new Lane(writer, place.name, this.#timeoutMs)
    this.reading = new Connections(opener(settingsFor(readTimeoutMs)), readers, place.name)
    this.deciding = new Connections(decider, decidersMax, place.name)
    this.resuming = new Connections(opener(settingsFor(readTimeoutMs)), 1, place.name)
    this.notices = new Notices(opener(settingsFor(readTimeoutMs)), opener({}), warn)
  }

  /** Has nothing of a node stand in the way of others for a third of its lease. What says so is the opening of a connection. */
  limitTo(leaseMs: number): void {
    const timeoutMs = Math.min(timeoutMsMax, Math.floor(leaseMs * 0.3))
    if (timeoutMs === this.#timeoutMs) return
    this.#timeoutMs = timeoutMs
    this.lane.limit(timeoutMs)
    this.deciding.retire()
  }

  async close(): Promise<void> {
    const { lane, reading, deciding, resuming, notices } = this
    await Promise.all([lane, reading, deciding, resuming, notices].map((each) => each.close()))
  }
}
