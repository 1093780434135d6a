import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AgentContext, cancelled, type Event, type Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { createWorld, eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

// As many as are kept in memory for those who watch, and as much.
const ringEventsMax = 4096
const ringBytesMax = 1024 * 1024

function seqs(events: readonly Event[]): number[] {
  return events.map((event) => event.seq)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_each, index) => first + index)
}

/** Emits in bursts of these sizes, each a commit or more of its own. */
async function burst(ctx: AgentContext, sizes: readonly number[]): Promise<void> {
  for (const [n, size] of sizes.entries()) {
    await ctx.step(`burst ${n}`, async () => {
      for (let i = 0; i < size; i += 1) await ctx.emit('n', i)
    })
  }
}

const isEnd = (event: Event) => event.type === 'task.completed'

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('EVNT-04 whoever attaches at any moment of a busy run sees each following number once and in order', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 12 })
    // Each reader attaches after so many bursts, behind the head of that moment by so much.
    const readers = fc.array(fc.record({ burst: fc.nat(11), behind: fc.nat(60) }), { minLength: 1, maxLength: 8 })
    const property = fc.asyncProperty(sizes, readers, async (bursts, attachments) => {
      const here = createWorld(kind)
      try {
        const runtime = await here.open({ agents: { burst } })
        await expectSeamless(runtime, bursts, attachments)
      } finally {
        await here.end()
      }
    })
    await fc.assert(property, { numRuns: kind === 'memory' ? 100 : 8 })
  }, 60_000)

  it.for([
    ['events', ringEventsMax + 500, 1],
    ['bytes', 24, ringBytesMax / 16],
  ] as const)(
    'a subscriber that stops reading for more %s than are kept catches up from the store',
    async ([, count, size]) => {
      const here = world()
      const goOn = gate()
      const filler = 'x'.repeat(size)
      const runtime = await here.open({
        agents: {
          flood: async (ctx: AgentContext) => {
            await ctx.say('first')
            await goOn.opened
            for (let i = 0; i < count; i += 1) await ctx.say(filler)
          },
        },
      })
      const { id } = await runtime.run({ thread, agent: 'flood', prompt: 'go' })
      const slow = runtime.subscribe({ thread })
      const seen: Event[] = []
      while (seen.length < 4) seen.push((await slow.next()).value as Event)
      goOn.open()
      const swift = await eventsUntil(runtime, { thread }, isEnd)
      await runtime.wait(id)
      while (!seen.some(isEnd)) seen.push((await slow.next()).value as Event)
      expect(seqs(seen)).toEqual(range(1, count + 6))
      expect(seqs(swift)).toEqual(seqs(seen))
      await slow.return?.()
    },
  )

  it('a start beyond the head is refused with the head, and never clamped', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const ahead = (head: number) => ({ code: 'offset_ahead', facts: { head } })
    await expect(runtime.subscribe({ thread, after: 1 }).next()).rejects.toMatchObject(ahead(0))
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await expect(runtime.subscribe({ thread, after: 4 }).next()).rejects.toMatchObject(ahead(3))
    await expect(runtime.subscribe({ thread, task: id, after: 4 }).next()).rejects.toMatchObject(ahead(3))
    held.release('a')
    await runtime.wait(id)
    const last = Number.MAX_SAFE_INTEGER
    await expect(runtime.subscribe({ thread, after: last }).next()).rejects.toMatchObject(ahead(4))
    await expect(runtime.subscribe({ thread, task: id, after: 5 }).next()).rejects.toMatchObject(ahead(4))
    expect(await runtime.subscribe({ thread, task: id, after: 4 }).next()).toEqual({ done: true, value: undefined })
  })

  it.for([-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])('a start after %d is refused', async (after) => {
    const runtime = await world().open()
    expect(() => runtime.subscribe({ thread, after })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('a subscription that is refused is over', async () => {
    const runtime = await world().open()
    const ahead = runtime.subscribe({ thread, after: 7 })
    await expect(ahead.next()).rejects.toMatchObject({ code: 'offset_ahead' })
    expect((await ahead.next()).done).toBe(true)
    const unknown = runtime.subscribe({ thread, task: 'bg_7' })
    await expect(unknown.next()).rejects.toMatchObject({ code: 'not_found' })
    expect((await unknown.next()).done).toBe(true)
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('a reader that leaves while it waits is let go at once', async () => {
    const here = world()
    const runtime = await here.open({ agents: { held: heldAgent() } })
    await runtime.run({ thread, agent: 'held', prompt: 'a' })
    const watching = runtime.subscribe({ thread, after: 3 })
    const waiting = watching.next()
    await here.quiet()
    expect((await runtime.thread(thread)).watchers).toBe(1)
    expect(await watching.return?.()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await watching.next()).toEqual({ done: true, value: undefined })
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('a reader that leaves before it began never watches', async () => {
    const here = world()
    const runtime = await here.open()
    const watching = runtime.subscribe({ thread })
    const waiting = watching.next()
    await watching.return?.()
    expect((await waiting).done).toBe(true)
    await here.quiet()
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('calls that overlap are answered in the order of the calls', async () => {
    const runtime = await world().open({ agents: { burst } })
    const watching = runtime.subscribe({ thread })
    const calls = Array.from({ length: 30 }, () => watching.next())
    await runtime.spawn({ thread, agent: 'burst', input: [10, 10, 10] })
    const events = (await Promise.all(calls)).map(({ value }) => value as Event)
    expect(seqs(events)).toEqual(range(1, 30))
    await watching.return?.()
  })

  it('a subscription to a task that waits in the queue sees its start and its end', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    await runtime.run({ thread, agent: 'held', prompt: 'a' })
    const { id, seq } = await runtime.run({ thread, agent: 'held', prompt: 'b' })
    const watching = eventsUntil(runtime, { thread, task: id, after: seq }, () => false)
    held.release('b', () => cancelled())
    held.release('a')
    expect((await watching).map((event) => event.type)).toEqual([
      'task.started',
      'message.created',
      'message.created',
      'task.cancelled',
    ])
  })

  it('a subscription ends when the runtime is closed', async () => {
    const here = world()
    const runtime = await here.open()
    const watching = runtime.subscribe({ thread }).next()
    await here.quiet()
    await runtime.close({ drainMs: 0 })
    expect((await watching).done).toBe(true)
  })

  it('watching changes nothing: readers come and go, and the log is the same as without them', async () => {
    const here = world()
    const runtime = await here.open({ agents: { burst } })
    const run = await runtime.spawn({ thread, agent: 'burst', input: [5, 5, 5] })
    for (const after of [0, 1, 2]) {
      for await (const event of runtime.subscribe({ thread, after })) {
        expect(event.seq).toBe(after + 1)
        break
      }
    }
    const events = await eventsOf(runtime, thread, run.id)
    expect(await runtime.get(run.id)).toMatchObject({ status: 'completed' })
    expect(events).toHaveLength(18)
    expect(await logOf(runtime, thread)).toEqual(events)
  })
})

async function expectSeamless(
  runtime: Runtime,
  bursts: readonly number[],
  attachments: readonly { readonly burst: number; readonly behind: number }[],
): Promise<void> {
  const task = await runtime.spawn({ thread, agent: 'burst', input: bursts })
  const end = 3 + bursts.reduce((sum, size) => sum + size, 0)
  const attached: Promise<{ after: number; seen: number[] }>[] = []
  let burstCount = 0
  for await (const event of runtime.subscribe({ thread, task: task.id })) {
    const isFirst = event.type === 'custom' && event.data.payload === 0
    if (isFirst || isEnd(event)) {
      for (const { behind } of attachments.filter((each) => each.burst === burstCount)) {
        const after = Math.max(0, event.seq - behind)
        const reading = eventsUntil(runtime, { thread, after }, ({ seq }) => seq >= end)
        if (after < end) attached.push(reading.then((events) => ({ after, seen: seqs(events) })))
      }
      burstCount += 1
    }
  }
  for (const { after, seen } of await Promise.all(attached)) expect(seen).toEqual(range(after + 1, end))
  expect(seqs(await logOf(runtime, thread))).toEqual(range(1, end))
}
