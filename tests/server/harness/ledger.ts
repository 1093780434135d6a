import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** One execution of a step, as the world outside saw it. */
export interface Effect {
  readonly task: string
  readonly key: string
  readonly attempt: number
}

/** A server of the test on loopback, to which steps of scripts post their effects. */
export interface Ledger {
  readonly url: string
  readonly effects: readonly Effect[]
  /** Leaves effects of this key unanswered in the task's first attempts, until it is released. */
  hold(key: string, attempts?: number): void
  release(key: string): void
  /** Resolves when this step has been executed so many times. */
  until(key: string, count?: number): Promise<void>
  close(): Promise<void>
}

export async function startLedger(): Promise<Ledger> {
  const effects: Effect[] = []
  const holds = new Map<string, number>()
  const held: { readonly key: string; readonly response: ServerResponse }[] = []
  const waiting = new Set<() => void>()
  const answer = (effect: Effect, response: ServerResponse) => {
    if (effect.attempt > (holds.get(effect.key) ?? 0)) response.end()
    else held.push({ key: effect.key, response })
    effects.push(effect)
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const server = createServer((request, response) => {
    void json(request).then((effect) => answer(effect as Effect, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    effects,
    hold: (key, attempts = 1) => {
      holds.set(key, attempts)
    },
    release: (key) => {
      holds.delete(key)
      for (const { response } of held.filter((entry) => entry.key === key)) response.end()
    },
    until: async (key, count = 1) => {
      while (effects.filter((effect) => effect.key === key).length < count) {
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
