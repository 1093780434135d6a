import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import type { LogCursor } from '../../src/runtime/log-cursor.ts'
import { entriesOf } from '../../src/runtime/log-stretch.ts'
import { answered, echo, keptOf } from './pruned.ts'
import { eventsUntil, onEachStore } from './world.ts'

const thread = 't'
// More than a reader is given in one page of the store.
const emitCount = 2_500

async function flood(ctx: AgentContext): Promise<void> {
  for (let n = 0; n < emitCount; n++) await ctx.emit('tick', { n })
}

/** What a cursor hands out until it ends or fails. */
async function drain(cursor: LogCursor): Promise<{ seqs: number[]; error?: unknown }> {
  const seqs: number[] = []
  try {
    for (let batch = await cursor.next(); batch; batch = await cursor.next()) {
      seqs.push(...entriesOf(batch).map(({ seq }) => seq))
    }
    return { seqs }
  } catch (error) {
    return { seqs, error }
  }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a reader that is behind is given no hole: it ends with offset_gone where the log was trimmed', async () => {
    const runtime = await world().open({ agents: { flood, echo } })
    const { id } = await runtime.run({ thread, agent: 'flood', prompt: 'go' })
    await runtime.wait(id)
    await answered(runtime, thread, 'last')
    const cursors = await Promise.all([
      runtime.openLog({ thread }),
      runtime.openLog({ thread, task: id }),
      runtime.openLog({ thread, types: ['custom'] }),
    ])
    const begun = await Promise.all(
      cursors.map(async (cursor) => entriesOf((await cursor.next()) ?? []).at(-1)?.seq ?? 0),
    )
    await runtime.prune({ eventsPerThread: 1 })
    const { first } = await keptOf(runtime, thread)
    for (const [n, cursor] of cursors.entries()) {
      const { seqs, error } = await drain(cursor)
      expect(error).toMatchObject({ code: 'offset_gone', facts: { first } })
      const from = begun[n] ?? 0
      expect(seqs).toEqual(seqs.map((_, index) => from + 1 + index))
      expect(seqs.at(-1) ?? from).toBeLessThan(first - 1)
      expect(cursor.isOver).toBe(true)
    }
  })

  it('a reader that has all of the log notices nothing', async () => {
    const runtime = await world().open({ agents: { echo } })
    await answered(runtime, thread, 'a')
    const { head } = await runtime.thread(thread)
    const watcher = runtime.subscribe({ thread })
    for (let seq = 1; seq <= head; seq++) expect((await watcher.next()).value?.seq).toBe(seq)
    const waiting = watcher.next()
    await runtime.prune({ eventsPerThread: 1 })
    expect((await keptOf(runtime, thread)).first).toBeGreaterThan(1)
    await answered(runtime, thread, 'b')
    expect((await waiting).value?.seq).toBe(head + 1)
    expect((await watcher.next()).value?.seq).toBe(head + 2)
    await watcher.return?.()
  })

  it('the events of a task that are gone are asked for as any other, and its end is known all the same', async () => {
    const runtime = await world().open({ agents: { echo } })
    const old = await answered(runtime, thread, 'a')
    await answered(runtime, thread, 'b')
    await runtime.prune({ eventsPerThread: 1 })
    const { first, head } = await keptOf(runtime, thread)
    for (const options of [{ task: old }, { task: old, after: first - 2 }, { types: ['task.completed'] }]) {
      const gone = { code: 'offset_gone', facts: { first } }
      await expect(runtime.openLog({ thread, ...options })).rejects.toMatchObject(gone)
      await expect(runtime.logPage(thread, options)).rejects.toMatchObject(gone)
    }
    expect(await eventsUntil(runtime, { thread, task: old, after: first - 1 }, () => false)).toEqual([])
    expect(await runtime.logPage(thread, { task: old, after: first - 1 })).toEqual({ entries: [], head, next: head })
  })

  it('a snapshot that finds its running task ended and trimmed is taken again', async () => {
    const here = world()
    const said = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const slow = async (ctx: AgentContext) => {
      await ctx.say('slowly')
      said.resolve()
      await end.promise
    }
    const runtime = await here.open({ agents: { slow, echo } })
    const { id } = await runtime.run({ thread, agent: 'slow', prompt: 'go' })
    await said.promise
    await here.quiet()
    // Another process reads: it has to look into the log for what the task has said.
    await here.crash()
    const next = await here.open({ agents: { echo } })
    const inner = here.store.snapshot
    const taken: number[] = []
    Object.assign(here.store, {
      snapshot: async (...given: Parameters<typeof inner>) => {
        const picture = await inner(...given)
        taken.push(picture?.head ?? 0)
        if (taken.length > 1) return picture
        await next.cancel(id)
        await next.wait(id)
        await answered(next, thread, 'after')
        await next.prune({ eventsPerThread: 1 })
        return picture
      },
    })
    const picture = await next.thread(thread)
    expect(taken.length).toBe(2)
    expect(picture.live).toEqual([])
    expect(picture.first).toBeGreaterThan(1)
    expect(picture.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    end.resolve()
  })
})
