import { type AgentContext, createRuntime } from '../src/index.ts'
import type { Store } from '../src/stores/store.ts'
import { median, timed } from './rounds.ts'
import { payload } from './sqlite-load.ts'

/** What is done all the time, whatever has been: what the growth of a store must not slow down. */
export interface Present {
  /**
   * One append (an event emitted and committed), one claim (the store is asked for work and has none), one attach (a subscription
   * to a thread's last events, until the first is there).
   */
  readonly operations: Record<Operation, () => Promise<unknown>>
  close(): Promise<void>
}

type Operation = 'append' | 'claim' | 'attach'
export const operations: readonly Operation[] = ['append', 'claim', 'attach']

/** A runtime on a store, with one live run in this thread. */
export async function openPresent(store: Store, thread: string): Promise<Present> {
  const asked = orders()
  const appender = async (ctx: AgentContext) => {
    for await (const done of asked) {
      await ctx.emit(payload.name, payload.payload)
      await ctx.step('flushed', () => null)
      done()
    }
  }
  const runtime = createRuntime({ store, agents: { appender } })
  await runtime.run({ thread, agent: 'appender', prompt: 'go' })
  for (let n = 0; n < 10; n++) await asked.next()
  const query = { node: 'node_2', agents: ['appender', 'past'], starts: 100, orphans: 0, withCounts: false }
  return {
    operations: {
      append: asked.next,
      claim: () => store.claim(query),
      attach: async () => {
        const { head } = await runtime.thread(thread)
        for await (const _event of runtime.subscribe({ thread, after: head - 5 })) break
      },
    },
    close: () => runtime.close({ drainMs: 0 }),
  }
}

/** The medians of an operation on both, in turns. */
export async function timesOf(operation: Operation, less: Present, more: Present, roundCount: number): Promise<Times> {
  const took: { less: number; more: number }[] = []
  for (let round = -roundCount / 10; round < roundCount; round++) {
    const pair = { less: await timed(less.operations[operation]), more: await timed(more.operations[operation]) }
    if (round >= 0) took.push(pair)
  }
  return { lessMs: median(took.map((pair) => pair.less)), moreMs: median(took.map((pair) => pair.more)) }
}

interface Times {
  readonly lessMs: number
  readonly moreMs: number
}

/** What the bench asks its agent to do, one after the other. */
function orders() {
  let give = Promise.withResolvers<() => void>()
  return {
    next: () => new Promise<void>((resolve) => give.resolve(resolve)),
    async *[Symbol.asyncIterator](): AsyncGenerator<() => void> {
      for (;;) {
        yield await give.promise
        give = Promise.withResolvers()
      }
    },
  }
}
