import { setTimeout as sleep } from 'node:timers/promises'
import { Child } from '../server/child.ts'
import { Backing, type Databases } from './backing.ts'
import type { Peer } from './peers.ts'

/** Fails instead of waiting for longer than so many milliseconds. */
export async function within<Value>(ms: number, what: string, work: Promise<Value>): Promise<Value> {
  work.catch(() => undefined)
  const isOver = new AbortController()
  const late = sleep(ms, undefined, { signal: isOver.signal }).then(() => {
    throw new Error(`${what} took longer than ${Math.round(ms / 1000)} s`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    isOver.abort()
  }
}

/** A server that is up, and what it stands on. */
export class Standing {
  readonly child: Child
  readonly #backing: Backing
  readonly #isOver = new AbortController()

  private constructor(child: Child, backing: Backing) {
    this.child = child
    this.#backing = backing
  }

  static async start(peer: Peer, databases: Databases): Promise<Standing> {
    const backing = new Backing(databases)
    try {
      const args = await peer.args(backing)
      return new Standing(new Child(`../peers/servers/${peer.server}-process.ts`, args), backing)
    } catch (error) {
      await backing.end()
      throw error
    }
  }

  get signal(): AbortSignal {
    return this.#isOver.signal
  }

  async end(): Promise<void> {
    this.#isOver.abort()
    this.child.kill()
    await this.child.end().catch(() => undefined)
    await this.#backing.end()
  }
}
