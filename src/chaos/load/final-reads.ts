import type { Event } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { Task } from '../../core/task.ts'
import { digestOf, threadName } from '../history/entry.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { ask, bodyOf } from './http.ts'
import type { World } from './world.ts'

const pageMax = 1000

interface Page {
  readonly events: readonly Event[]
  readonly head: number
  readonly next: number
}

/** Reads at the end of a round, of one node, over a line that does not break. */
export class FinalReads {
  readonly #world: World
  readonly #node: ServedNode

  constructor(world: World, node: ServedNode) {
    this.#world = world
    this.#node = node
  }

  /** Writes down everything: threads, logs, tasks. */
  async writeAll(): Promise<void> {
    for (const [principal, thread] of this.#world.allThreads) {
      const name = threadName(principal, thread)
      const { head, first } = await this.#bounds(principal, thread)
      for await (const events of this.#log(principal, thread, first)) {
        this.#world.recorder.write({ kind: 'log', thread: name, node: this.#node.name, events })
      }
      const messages = await this.#messages(principal, thread)
      const results = await this.#get<{ results: { task: string }[] }>(principal, `/v1/threads/${thread}/results`)
      const untaken = results.results.map(({ task }) => task)
      this.#world.recorder.write({ kind: 'thread', thread: name, head, first, messages, untaken })
      for (const task of await this.#tasks(principal, `thread=${thread}`)) {
        this.#world.recorder.write({ kind: 'task', thread: name, task })
      }
    }
  }

  /** Writes down how this node tells the logs, as a stream of which only digests are kept. */
  async writeDigests(): Promise<void> {
    for (const [principal, thread] of this.#world.allThreads) {
      const { first } = await this.#bounds(principal, thread)
      const events: [number, string][] = []
      for await (const page of this.#log(principal, thread, first)) {
        for (const event of page) events.push([event.seq, digestOf(event)])
      }
      const name = threadName(principal, thread)
      const read = { transport: 'page', node: this.#node.name, after: first - 1, events, end: 'left' } as const
      this.#world.recorder.write({ kind: 'stream', thread: name, ...read })
    }
  }

  /** The tasks that have not ended, of everybody or of one. */
  async live(whose?: string): Promise<string[]> {
    const all = this.#world.allThreads.filter(([principal]) => principal === (whose ?? principal))
    const threads = Map.groupBy(all, ([principal]) => principal)
    const ids: string[] = []
    for (const [principal, own] of threads) {
      const names = new Set(own.map(([, thread]) => thread))
      const tasks = await this.#tasks(principal, 'status=pending,running')
      ids.push(...tasks.filter(({ thread }) => names.has(thread)).map(({ id }) => id))
    }
    return ids
  }

  async head(principal: string, thread: string): Promise<number> {
    return (await this.#bounds(principal, thread)).head
  }

  #bounds(principal: string, thread: string): Promise<{ head: number; first: number }> {
    return this.#get(principal, `/v1/threads/${thread}`)
  }

  async *#log(principal: string, thread: string, first: number): AsyncGenerator<readonly Event[]> {
    for (let after = first - 1; ; ) {
      const path = `/v1/threads/${thread}/events?limit=${pageMax}&after=${after}`
      const { events, head, next } = await this.#get<Page>(principal, path)
      yield events
      if (next >= head) return
      after = next
    }
  }

  async #messages(principal: string, thread: string): Promise<Message[]> {
    const all: Message[] = []
    for (;;) {
      const path = `/v1/threads/${thread}/messages?limit=${pageMax}&after=${all.at(-1)?.seq ?? 0}`
      const { messages } = await this.#get<{ messages: Message[] }>(principal, path)
      all.push(...messages)
      if (messages.length < pageMax) return all
    }
  }

  async #tasks(principal: string, filter: string): Promise<Task[]> {
    const all: Task[] = []
    for (let from = ''; ; ) {
      const path = `/v1/tasks?limit=${pageMax}&${filter}${from}`
      const { tasks, cursor } = await this.#get<{ tasks: Task[]; cursor?: string }>(principal, path)
      all.push(...tasks)
      if (cursor === undefined) return all
      from = `&cursor=${encodeURIComponent(cursor)}`
    }
  }

  async #get<Body>(principal: string, path: string): Promise<Body> {
    const token = this.#world.token(principal)
    return bodyOf<Body>(await ask({ url: `${this.#node.url}${path}`, token, timeoutMs: 30_000 }))
  }
}
