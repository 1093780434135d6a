import { expect, it } from 'vitest'
import type { SpawnOptions } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { forever, untilStopped } from './bodies.ts'
import { onEachStore } from './world.ts'

function spawnNamed(runtime: Runtime, name: string, options: SpawnOptions = {}) {
  return runtime.spawn({ thread: 't', run: untilStopped, name, ...options })
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('NAME-01 parent, self, all and broadcast are reserved', async () => {
    const runtime = await world().open()
    for (const name of ['parent', 'self', 'all', 'broadcast']) {
      await expect(spawnNamed(runtime, name)).rejects.toMatchObject({ code: 'reserved_name' })
    }
    expect((await runtime.thread('t')).head).toBe(0)
    for (const name of ['Parent', 'self_', 'x'.repeat(64)]) expect((await spawnNamed(runtime, name)).name).toBe(name)
  })

  it('NAME-02 two live tasks of one thread cannot share a name', async () => {
    const runtime = await world().open({ concurrency: 1 })
    const running = await spawnNamed(runtime, 'scout')
    const pending = await spawnNamed(runtime, 'guard')
    expect([running.status, pending.status]).toEqual(['running', 'pending'])
    const { head } = await runtime.thread('t')
    for (const holder of [running, pending]) {
      const taking = spawnNamed(runtime, holder.name ?? '', { parent: { task: running.id }, detached: true })
      await expect(taking).rejects.toMatchObject({ code: 'name_taken', facts: { task: holder.id } })
    }
    expect((await runtime.thread('t')).head).toBe(head)
    expect((await runtime.list({ name: 'scout' })).tasks.map(({ id }) => id)).toEqual([running.id])
  })

  it('NAME-02 of many spawns of one name in one moment exactly one gets it', async () => {
    const runtime = await world().open()
    const spawning = Array.from({ length: 20 }, () => spawnNamed(runtime, 'scout'))
    const outcomes = await Promise.allSettled(spawning)
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    expect(refused).toHaveLength(19)
    for (const error of refused) expect(error).toMatchObject({ code: 'name_taken', facts: { task: 'bg_0' } })
    expect((await runtime.list({ thread: 't' })).tasks.map(({ id, name }) => [id, name])).toEqual([['bg_0', 'scout']])
  })

  it('NAME-02 a task that is being cancelled has its name until it has ended', async () => {
    const here = world()
    const runtime = await here.open({ graceMs: 5_000 })
    const stubborn = await spawnNamed(runtime, 'scout', { run: forever })
    await runtime.cancel(stubborn.id)
    await expect(spawnNamed(runtime, 'scout')).rejects.toMatchObject({ code: 'name_taken' })
    await here.clock.advance(5_000)
    await runtime.wait(stubborn.id)
    expect(await spawnNamed(runtime, 'scout')).toMatchObject({ name: 'scout', status: 'running' })
  })

  it('NAME-03 once the first has ended, however it ended, the name is free again and the new task has a new id', async () => {
    const runtime = await world().open({ concurrency: 2 })
    const endings: Record<string, SpawnOptions['run']> = {
      completed: () => 'done',
      failed: () => Promise.reject(new Error('broken')),
      cancelled: untilStopped,
    }
    const ids: string[] = []
    for (const [status, run = forever] of Object.entries(endings)) {
      const task = await spawnNamed(runtime, 'scout', { run })
      if (status === 'cancelled') await runtime.cancel(task.id)
      expect(await runtime.wait(task.id)).toMatchObject({ name: 'scout', status })
      ids.push(task.id)
    }
    await runtime.spawn({ thread: 't', run: untilStopped })
    await runtime.spawn({ thread: 't', run: untilStopped })
    const pending = await spawnNamed(runtime, 'scout')
    await runtime.cancel(pending.id)
    const last = await spawnNamed(runtime, 'scout')
    expect(new Set([...ids, pending.id, last.id]).size).toBe(5)
    const newestFirst = [last.id, pending.id, ...ids.toReversed()]
    expect((await runtime.list({ name: 'scout' })).tasks.map(({ id }) => id)).toEqual(newestFirst)
  })

  it('NAME-03 the name of an ended child can be given again by its parent', async () => {
    const runtime = await world().open()
    const parent = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        const first = await ctx.spawn({ run: () => 1, name: 'scout' })
        await ctx.wait(first.id)
        const second = await ctx.spawn({ run: () => 2, name: 'scout' })
        return [first.id, (await ctx.wait(second.id)).answer]
      },
    })
    expect(await runtime.wait(parent.id)).toMatchObject({ status: 'completed', result: ['bg_1', 2] })
  })

  it('NAME-03 after a restart a live task still has its name and an ended one has not', async () => {
    const here = world()
    const agents = { untilStopped }
    const first = await here.open({ agents })
    const kept = await first.spawn({ thread: 't', agent: 'untilStopped', name: 'kept' })
    const freed = await spawnNamed(first, 'freed', { run: () => 'done' })
    await first.wait(freed.id)
    await here.crash()
    const second = await here.open({ agents })
    await expect(spawnNamed(second, 'kept')).rejects.toMatchObject({ code: 'name_taken', facts: { task: kept.id } })
    expect(await spawnNamed(second, 'freed')).toMatchObject({ name: 'freed' })
  })

  it('NAME-04 two threads, and two principals, may use the same name at the same time', async () => {
    const runtime = await world().open()
    const tasks = [
      await spawnNamed(runtime, 'scout'),
      await spawnNamed(runtime, 'scout', { thread: 'u' }),
      await spawnNamed(runtime.as('alice'), 'scout'),
    ]
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(3)
    expect(tasks.map(({ name, status }) => [name, status])).toEqual(Array(3).fill(['scout', 'running']))
    expect((await runtime.list({ name: 'scout' })).tasks).toHaveLength(2)
  })
})
