import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, expiry } from '../runtime/clock.ts'

/**
 * The open connections of a server. Node counts an answer as done when its last byte was handed to the socket, and closes
 * the connection under it; here it is done when the socket has passed it on.
 */
export class Connections {
  readonly #open = new Set<Duplex>()
  /** Those that speak another protocol by now, and close themselves. */
  readonly #upgraded = new Set<Duplex>()
  /** One for all: a function for each would be a good part of what an idle connection costs. */
  readonly #onClose = removerFrom(this.#open, this.#upgraded)

  add(socket: Socket): void {
    this.#open.add(socket)
    socket.on('close', this.#onClose)
  }

  upgrade(socket: Duplex): void {
    this.#upgraded.add(socket)
  }

  /** Resolves when everything written so far is on its way, or when the time is over. */
  async settled(clock: Clock, withinMs: number): Promise<void> {
    const waiting = [...this.#open].filter((socket) => this.#upgraded.has(socket) || socket.writableLength > 0)
    if (waiting.length === 0) return
    const { expired, cancel } = expiry(clock, withinMs)
    await Promise.race([expired, Promise.all(waiting.map((socket) => this.#settled(socket)))])
    cancel()
  }

  /** Closes all, whatever they are at. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #settled(socket: Duplex): Promise<void> {
    return new Promise((resolve) => {
      socket.once('close', resolve)
      // Nothing is sent by it; it is called back when what was written before is gone.
      if (!this.#upgraded.has(socket) && socket.writable) socket.write('', () => resolve())
    })
  }
}

/** A listener that removes whatever it is called on. */
function removerFrom(...sets: readonly Set<Duplex>[]): (this: Duplex) => void {
  return function () {
    for (const set of sets) set.delete(this)
  }
}
