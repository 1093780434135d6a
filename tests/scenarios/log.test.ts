import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AgentContext, Event, EventType, Runtime } from '../../src/index.ts'
import { entriesOf, type LogBatch } from '../../src/runtime/log-stretch.ts'
import { heldAgent } from './held-agent.ts'
import { createWorld, eventsUntil, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

type Stream = { next(): Promise<LogBatch | undefined> }
type PageOptions = NonNullable<Parameters<Runtime['logPage']>[1]>

/** Emits in bursts of these sizes, each a commit or more of its own. */
async function burst(ctx: AgentContext, sizes: readonly number[]): Promise<void> {
  for (const [n, size] of sizes.entries()) {
    await ctx.step(`burst ${n}`, async () => {
      for (let i = 0; i < size; i += 1) await (i % 2 === 0 ? ctx.emit('n', i) : ctx.say(`${i}`))
    })
  }
}

/** What a stream hands out until it ends, or until so many events. */
async function drain(stream: Stream, countMax = Number.POSITIVE_INFINITY): Promise<Event[]> {
  const events: Event[] = []
  while (events.length < countMax) {
    const batch = await stream.next()
    if (!batch) break
    events.push(...entriesOf(batch).map(({ text }) => JSON.parse(text) as Event))
  }
  return events
}

/** The log page by page, to its end. */
async function pages(runtime: Runtime, options: PageOptions = {}): Promise<Event[]> {
  const events: Event[] = []
  for (let after = options.after ?? 0; ; ) {
    const page = await runtime.logPage(thread, { ...options, after })
    events.push(...page.entries.map(({ text }) => JSON.parse(text) as Event))
    if (page.next === page.head) return events
    expect(page.next).toBeGreaterThan(after)
    after = page.next
  }
}

async function writtenLog(runtime: Runtime): Promise<{ log: Event[]; ids: string[] }> {
  const runs = await Promise.all([7, 5].map((size) => runtime.spawn({ thread, agent: 'burst', input: [size, size] })))
  const last = await runtime.run({ thread, agent: 'burst', input: [3] })
  for (const { id } of [...runs, last]) await runtime.wait(id)
  return { log: await logOf(runtime, thread), ids: [...runs, last].map(({ id }) => id) }
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('the log in batches says what the events say, from any number on', async () => {
    const runtime = await world().open({ agents: { burst } })
    const { log } = await writtenLog(runtime)
    for (let after = 0; after < log.length; after += 1) {
      const cursor = await runtime.openLog({ thread, after })
      expect(cursor).toMatchObject({ head: log.length, isOver: false })
      expect(await drain(cursor, log.length - after)).toEqual(log.slice(after))
      cursor.close()
      expect(await cursor.next()).toBeUndefined()
    }
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('a log that cannot be read is refused when it is opened', async () => {
    const runtime = await world().open({ agents: { burst } })
    const { log, ids } = await writtenLog(runtime)
    const head = log.length
    const [task = ''] = ids
    const refusals = [
      [{ after: head + 1 }, { code: 'offset_ahead', facts: { head } }],
      [
        { task, after: head + 1 },
        { code: 'offset_ahead', facts: { head } },
      ],
      [{ task: 'bg_77' }, { code: 'not_found' }],
      [{ after: -1 }, { code: 'invalid_request' }],
      [{ after: 0.5 }, { code: 'invalid_request' }],
      [{ types: [] }, { code: 'invalid_request' }],
      [{ types: [7 as unknown as string] }, { code: 'invalid_request' }],
    ] as const
    for (const [options, problem] of refusals) {
      await expect(runtime.openLog({ thread, ...options })).rejects.toMatchObject(problem)
      await expect(runtime.logPage(thread, options)).rejects.toMatchObject(problem)
    }
    await expect(runtime.openLog({ thread: 'other', task })).rejects.toMatchObject({ code: 'not_found' })
    await expect(runtime.as('bob').openLog({ thread, task })).rejects.toMatchObject({ code: 'not_found' })
    await expect(runtime.openLog({ thread: 'no thread' })).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('types leave out what was not asked for, but never how the task ended', async () => {
    const runtime = await world().open({ agents: { burst } })
    const { log, ids } = await writtenLog(runtime)
    const [task = ''] = ids
    const types = ['custom', 'from.the.future'] as EventType[]
    const custom = log.filter(({ type }) => type === 'custom')
    const ofTask = log.filter((event) => event.task === task && ['custom', 'task.completed'].includes(event.type))
    expect(await drain(await runtime.openLog({ thread, types }), custom.length)).toEqual(custom)
    expect(await drain(await runtime.openLog({ thread, task, types }))).toEqual(ofTask)
    expect(await eventsUntil(runtime, { thread, task, types }, () => false)).toEqual(ofTask)
    expect(await pages(runtime, { types })).toEqual(custom)
    expect(await pages(runtime, { types, task, limit: 2 })).toEqual(ofTask)
    expect(() => runtime.subscribe({ thread, types: [] })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('the log of an ended task is over if its terminal event is not after the start', async () => {
    const runtime = await world().open({ agents: { burst } })
    const { log, ids } = await writtenLog(runtime)
    for (const task of ids) {
      const end = log.findLast((event) => event.task === task)
      for (let after = 0; after <= log.length; after += 1) {
        const cursor = await runtime.openLog({ thread, task, after })
        expect([cursor.isOver, cursor.head]).toEqual([after >= (end?.seq ?? 0), log.length])
        expect(await drain(cursor)).toEqual(log.filter((event) => event.task === task && event.seq > after))
        expect(cursor.isOver).toBe(true)
      }
    }
    expect((await runtime.thread(thread)).watchers).toBe(0)
  })

  it('whoever opens a task’s log while it ends gets its terminal event once', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await held.started('a')
    const early = await runtime.openLog({ thread, task: id, after: 3 })
    const readers = [drain(early)]
    held.release('a')
    for (let isEnded = false; !isEnded; ) {
      readers.push(runtime.openLog({ thread, task: id, after: 3 }).then((cursor) => drain(cursor)))
      isEnded = (await runtime.get(id))?.status === 'completed'
    }
    for (const events of await Promise.all(readers)) expect(events.map(({ type }) => type)).toEqual(['task.completed'])
    expect(readers.length).toBeGreaterThan(1)
  })

  it('pages of any size make up the whole log, and the last one says that it is', async () => {
    const here = createWorld(kind)
    try {
      const runtime = await here.open({ agents: { burst } })
      const { log, ids } = await writtenLog(runtime)
      const options = fc.record({
        limit: fc.integer({ min: 1, max: 40 }),
        after: fc.nat(log.length),
        task: fc.constantFrom(undefined, ...ids),
        types: fc.constantFrom(undefined, ['custom'], ['text.delta', 'task.started'], ['nothing']),
      })
      const property = fc.asyncProperty(options, async ({ limit, after, task, types }) => {
        const asked = { limit, after, ...(task !== undefined && { task }), ...(types && { types }) }
        const isEnd = (event: Event) => task !== undefined && event.type === 'task.completed'
        const expected = log
          .filter((event) => event.seq > after && (task === undefined || event.task === task))
          .filter((event) => !types || (types as readonly string[]).includes(event.type) || isEnd(event))
        const [first] = expected
        const page = await runtime.logPage(thread, asked)
        expect(page.entries.length).toBe(Math.min(limit, expected.length))
        expect(page.entries[0]?.seq).toBe(first?.seq)
        expect(await pages(runtime, asked)).toEqual(expected)
      })
      await fc.assert(property, { numRuns: kind === 'memory' ? 200 : 60 })
    } finally {
      await here.end()
    }
  })

  it('a page has at most 1000 events, 100 unless asked for, and about a mebibyte', async () => {
    const here = world()
    const large = async (ctx: AgentContext) => {
      for (let i = 0; i < 12; i += 1) await ctx.say('x'.repeat(200_000))
    }
    const runtime = await here.open({ agents: { burst, large } })
    const { id } = await runtime.spawn({ thread, agent: 'burst', input: [1100] })
    await runtime.wait(id)
    expect((await runtime.logPage(thread)).entries).toHaveLength(100)
    expect((await runtime.logPage(thread, { limit: 1000 })).entries).toHaveLength(1000)
    for (const limit of [0, 1001, 0.5]) {
      await expect(runtime.logPage(thread, { limit })).rejects.toMatchObject({ code: 'invalid_request' })
    }
    const { head } = await runtime.thread(thread)
    await runtime.wait((await runtime.spawn({ thread, agent: 'large' })).id)
    const page = await runtime.logPage(thread, { after: head, types: ['text.delta'] })
    expect(page.entries.length).toBeLessThanOrEqual(6)
    expect(await pages(runtime, { after: head, types: ['text.delta'] })).toHaveLength(12)
    expect(await runtime.logPage('never-used')).toEqual({ entries: [], head: 0, next: 0 })
  })

  it('a firehose shows all threads of its principal from now on, each in order', async () => {
    const here = world()
    const runtime = await here.open({ agents: { burst } })
    await runtime.wait((await runtime.spawn({ thread: 'a', agent: 'burst', input: [3] })).id)
    const firehose = await runtime.openFirehose()
    const ends = await runtime.openFirehose({ types: ['task.completed'] })
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => runtime.spawn({ thread: name, agent: 'burst', input: [20] })),
    )
    await runtime.as('bob').spawn({ thread: 'a', agent: 'burst', input: [20] })
    const seen = await drain(firehose, 46)
    const logs = [(await logOf(runtime, 'a')).slice(6), await logOf(runtime, 'b')]
    expect(['a', 'b'].map((name) => seen.filter((event) => event.thread === name))).toEqual(logs)
    expect((await drain(ends, 2)).map((event) => event.task).sort()).toEqual([a?.id, b?.id].sort())
    const waiting = firehose.next()
    firehose.close()
    expect(await waiting).toBeUndefined()
    await expect(runtime.openFirehose({ types: [] })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('closing the runtime ends every log and firehose that is open', async () => {
    const here = world()
    const goOn = gate()
    const runtime = await here.open({ agents: { waits: () => goOn.opened } })
    const { id } = await runtime.run({ thread, agent: 'waits', prompt: 'go' })
    const streams = [
      await runtime.openLog({ thread, after: 3 }),
      await runtime.openLog({ thread, task: id, after: 3 }),
      await runtime.openFirehose(),
    ]
    const waiting = streams.map((stream) => stream.next())
    await here.quiet()
    await runtime.close({ drainMs: 0 })
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined])
    goOn.open()
  })
})
