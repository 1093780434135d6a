import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../src/core/errors.ts'
import { type Event, isTerminalEvent } from '../../src/core/event.ts'
import { type AgentContext, type Agents, createRuntime, type Runtime } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../src/testing/index.ts'
import { passTime } from './pass-time.ts'
import { eventsUntil } from './world.ts'

type Read = 'events' | 'steps' | 'task' | 'messages'

/** A store of which the next reads of one kind fail as they do while a database restarts. */
function unreadable(store: Store, method: Read, times: number): Store {
  let left = times
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const isFailing = property === method && left-- > 0
        if (isFailing) return Promise.reject(new HoldfastError('store_unavailable', 'The store cannot be read'))
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** A memory store with a run that was at work when its process was killed. */
async function storeWithOrphan(agents: Agents): Promise<{ store: Store; run: string }> {
  const memory = memoryStore()
  const store = faultyStore(memory)
  const runtime = createRuntime({ store, agents, clock: manualClock(0) })
  const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
  await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'text.delta')
  await store.crash()
  return { store: memory, run: id }
}

describe('a store that cannot be read for a while', () => {
  it.each(['events', 'steps'] as const)('keeps no orphan from going on: %s', async (method) => {
    const worker = async (ctx: AgentContext) => {
      await ctx.step('one', () => 1)
      await ctx.say('one ')
      if (ctx.attempt === 1) await new Promise(() => {})
      return 'done'
    }
    const { store, run } = await storeWithOrphan({ worker })
    const clock = manualClock(0)
    const runtime: Runtime = createRuntime({ store: unreadable(store, method, 3), agents: { worker }, clock })
    const ended = await passTime(clock, runtime.wait(run))
    expect(ended).toMatchObject({ status: 'completed', result: 'done', attempt: 2 })
    await runtime.close({ drainMs: 0 })
  })

  it.each(['task', 'messages'] as const)('fails no task that is at work: %s', async (method) => {
    const worker = async (ctx: AgentContext) => {
      const messages = await ctx.messages()
      const child = await ctx.spawn({ agent: 'child' })
      const { answer } = await ctx.wait(child.id)
      return [messages.length, answer]
    }
    const clock = manualClock(0)
    const agents = { worker, child: () => 'grown' }
    const runtime = createRuntime({ store: unreadable(memoryStore(), method, 2), agents, clock })
    const run = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    const isLast = (event: Event) => event.task === run.id && isTerminalEvent(event)
    const events = await passTime(clock, eventsUntil(runtime, { thread: 't' }, isLast))
    expect(events.at(-1)).toMatchObject({ type: 'task.completed', data: { result: [1, 'grown'] } })
    await runtime.close({ drainMs: 0 })
  })
})
