// How fast do many subscribers get what one task emits? Run with `node bench/fan-out.ts`.
//
// One task emits 2,000 events to 1,000 subscribers of its thread in the same process, on SQLite: 20 at a time, and the
// next 20 when every subscriber has had them. The baseline is 1,000 bare async generators that hand out the same objects
// from one shared list, are woken once per batch of 20, and are waited for in the same way. The commit of each batch is
// part of ours. Not measured: the encoding for clients, sockets, readers that stay behind.

import { type AgentContext, createRuntime, type Event } from '../src/index.ts'
import { perSecond, report } from './figures.ts'
import { compare, each, timed } from './rounds.ts'
import { payload, withPath } from './sqlite-load.ts'

const subscriberCount = 1_000
const eventsPerBatch = 20
const batchCount = 100
const eventCount = eventsPerBatch * batchCount
const thread = 'thread'

/** Opens each time all subscribers have had a batch. */
class Gate {
  #count = 0
  #open: (() => void) | undefined

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#open = resolve
    })
  }

  pass(): void {
    this.#count += 1
    if (this.#count % subscriberCount === 0) this.#open?.()
  }
}

/** Takes the emitted events of a subscription, and tells the gate of each batch. */
async function consume(events: AsyncIterable<Event>, gate: Gate, into?: Event[]): Promise<void> {
  let count = 0
  for await (const event of events) {
    if (event.type !== 'custom') continue
    into?.push(event)
    count += 1
    if (count % eventsPerBatch === 0) gate.pass()
    if (count === eventCount) return
  }
  throw new Error(`a subscriber got ${count} of ${eventCount} events`)
}

function ours(received: Event[]): Promise<number> {
  return withPath(async (path) => {
    const go = Promise.withResolvers<void>()
    const gate = new Gate()
    const emitter = async (ctx: AgentContext) => {
      await go.promise
      for (let batch = 0; batch < batchCount; batch++) {
        const passed = gate.wait()
        for (let i = 0; i < eventsPerBatch; i++) void ctx.emit(payload.name, payload.payload)
        await passed
      }
    }
    const runtime = createRuntime({ store: `sqlite:${path}`, agents: { emitter } })
    await runtime.run({ thread, agent: 'emitter', prompt: 'go' })
    const took = await timed(async () => {
      const watching = each(subscriberCount, (n) =>
        consume(runtime.subscribe({ thread }), gate, n === 0 ? received : undefined),
      )
      go.resolve()
      await watching
    })
    await runtime.close()
    return took
  })
}

function baseline(events: readonly Event[]): Promise<number> {
  const shared: Event[] = []
  const wakers: (() => void)[] = []
  async function* subscribe(): AsyncGenerator<Event> {
    for (let next = 0; ; ) {
      for (let event = shared[next]; event; event = shared[next]) {
        next += 1
        yield event
      }
      await new Promise<void>((resolve) => wakers.push(resolve))
    }
  }
  return timed(async () => {
    const gate = new Gate()
    const watching = each(subscriberCount, () => consume(subscribe(), gate))
    for (let first = 0; first < eventCount; first += eventsPerBatch) {
      const passed = gate.wait()
      shared.push(...events.slice(first, first + eventsPerBatch))
      for (const wake of wakers.splice(0)) wake()
      await passed
    }
    await watching
  })
}

const events: Event[] = []
await ours(events)
const { ratio, oursMs, baselineMs } = await compare(
  5,
  () => baseline(events),
  () => ours([]),
)
const deliveryCount = subscriberCount * eventCount
report({
  what: `one task to ${subscriberCount.toLocaleString('en')} subscribers`,
  value: ratio,
  unit: '×',
  atLeast: 0.5,
  of: `${perSecond(deliveryCount, oursMs)} against ${perSecond(deliveryCount, baselineMs)} bare`,
})
