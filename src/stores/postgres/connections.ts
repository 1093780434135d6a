import type { Connection } from './connection.ts'
import { isFull, unavailable } from './failure.ts'

// One more attempt costs little; a server that is down wants to be left alone.
const delayMsMin = 25
const delayMsMax = 1_000

/** Opens connections, and for a while after a failure refuses to, so that a server that comes back is not overrun. */
export class Opener {
  readonly #open: () => Promise<Connection>
  #delayMs = 0
  #notBefore = 0
  #failure: unknown

  constructor(open: () => Promise<Connection>) {
    this.#open = open
  }

  async open(): Promise<Connection> {
    if (performance.now() < this.#notBefore) throw this.#failure
    try {
      const connection = await this.#open()
      this.#delayMs = 0
      return connection
    } catch (error) {
      this.#delayMs = Math.min(delayMsMax, Math.max(delayMsMin, this.#delayMs * 2))
      this.#notBefore = performance.now() + this.#delayMs
      this.#failure = error
      throw error
    }
  }
}

/**
 * Some connections that statements take turns on. They are opened when they are needed. While a server has none left, those there
 * are do for all.
 */
export class Connections {
  readonly #opener: Opener
  readonly #countMax: number
  readonly #name: string
  readonly #idle: Connection[] = []
  readonly #busy = new Set<Connection>()
  readonly #waiting: { readonly go: () => void; readonly give: (error: unknown) => void }[] = []
  /** Who could open none, and takes one that comes back; or nothing, if all were lost. */
  readonly #sharing: ((connection: Connection | undefined) => void)[] = []
  #takenCount = 0
  #generation = 0
  #isClosed = false

  constructor(opener: Opener, countMax: number, name: string) {
    this.#opener = opener
    this.#countMax = countMax
    this.#name = name
  }

  /**
   * Lends a connection, to what is urgent before all that wait. Work that fails because a connection was lost while it lay idle is
   * done again on a new one, so it must be a statement that may be sent twice.
   */
  async use<Result>(
    work: (connection: Connection) => Promise<Result>,
    { isUrgent = false }: { readonly isUrgent?: boolean } = {},
  ): Promise<Result> {
    await this.#turn(isUrgent)
    const generation = this.#generation
    try {
      const known = this.#idle.pop()
      if (known) {
        try {
          return await this.#lend(known, work, generation)
        } catch (error) {
          if (!known.isLost || known.isSilent || this.#isClosed) throw error
        }
      }
      return await this.#lend(await this.#open(), work, generation)
    } finally {
      this.#pass()
    }
  }

  /** Those there are now end, at once or with what they are at: what others are set to is another by now. */
  retire(): void {
    this.#generation += 1
    for (const connection of this.#idle.splice(0)) connection.close().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { give } of this.#waiting.splice(0)) give(unavailable(this.#name, 'it is being closed'))
    for (const connection of this.#busy) connection.abandon()
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  async #turn(isUrgent: boolean): Promise<void> {
    if (this.#takenCount < this.#countMax) {
      this.#takenCount += 1
      return
    }
    const { promise, resolve: go, reject: give } = Promise.withResolvers<void>()
    if (isUrgent) this.#waiting.unshift({ go, give })
    else this.#waiting.push({ go, give })
    await promise
  }

  /** Hands the turn to the next that waits. It stays taken meanwhile, so nobody gets in between. */
  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next.go()
    else this.#takenCount -= 1
  }

  async #lend<Result>(
    connection: Connection,
    work: (connection: Connection) => Promise<Result>,
    generation: number,
  ): Promise<Result> {
    if (this.#isClosed) connection.abandon()
    this.#busy.add(connection)
    try {
      return await work(connection)
    } finally {
      this.#busy.delete(connection)
      const isRetired = generation !== this.#generation
      if (this.#isClosed) connection.abandon()
      else if (isRetired) connection.close().catch(() => undefined)
      this.#return(connection.isLost || isRetired ? undefined : connection)
    }
  }

  /** Nobody is left waiting for what cannot come back: that none is busy is told to all who share. */
  #return(connection: Connection | undefined): void {
    const share = connection && this.#sharing.shift()
    if (share) this.#busy.add(connection)
    if (share) share(connection)
    else if (connection) this.#idle.push(connection)
    else if (this.#busy.size === 0) for (const give of this.#sharing.splice(0)) give(undefined)
  }

  async #open(): Promise<Connection> {
    try {
      return await this.#openNew()
    } catch (error) {
      const known = isFull(error) ? await this.#share() : undefined
      if (known) return known
      throw error
    }
  }

  /** One of those there are, if need be when it is not needed any more. */
  #share(): Promise<Connection | undefined> | Connection | undefined {
    if (this.#idle.length > 0 || this.#busy.size === 0) return this.#idle.pop()
    return new Promise((resolve) => this.#sharing.push(resolve))
  }

  async #openNew(): Promise<Connection> {
    const connection = await this.#opener.open()
    connection.onLost(() => {
      const place = this.#idle.indexOf(connection)
      if (place !== -1) this.#idle.splice(place, 1)
    })
    return connection
  }
}
