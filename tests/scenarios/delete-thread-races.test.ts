import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import type { Runtime } from '../../src/index.ts'
import { deaf, echo, empty, keyOf, thread, withHistory } from './deletion.ts'
import { heldAgent } from './held-agent.ts'
import { passTime } from './pass-time.ts'
import { inQuietTime } from './quiet-time.ts'
import { onEachStore, type World } from './world.ts'

/** Ends the one live task of the thread as another node would: nothing in this process is told. */
async function endElsewhere(here: World): Promise<void> {
  const part = await here.store.livePart(keyOf(thread))
  const [record] = part?.tasks ?? []
  if (!part || !record) throw new Error('A task lives')
  const ending: Unit = {
    operation: 'end',
    thread: part.key,
    rev: part.rev,
    events: [{ type: 'task.cancelled', task: record.id, data: '{}' }],
    tasks: [{ record: { ...record, status: 'cancelled' }, isNew: false, stamps: ['completedAt'] }],
  }
  expect(await here.store.commit([ending])).toMatchObject([{ committed: true }])
}

async function untilReady(runtime: Runtime): Promise<void> {
  while (!(await runtime.isReady())) await nextTurn()
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a run accepted while a delete waits is cancelled with the rest', async () => {
    const here = world()
    const agent = deaf()
    const held = heldAgent()
    const runtime = await here.open({ agents: { deaf: agent.run, held } })
    await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await agent.begun
    const deleting = runtime.deleteThread(thread)
    await here.quiet()
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'between' })
    agent.letGo()
    await inQuietTime(here, deleting)
    expect(await runtime.get(id)).toBeUndefined()
    expect(await runtime.thread(thread)).toMatchObject(empty)
  })

  it('a run accepted after the erase lives on in the emptied thread', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { echo, held } })
    await withHistory(runtime, 'old')
    const { head } = await runtime.thread(thread)
    const store = here.store.hold()
    const deleting = runtime.deleteThread(thread)
    await store.reached
    const accepting = runtime.run({ thread, agent: 'held', prompt: 'after' })
    store.open()
    await deleting
    const { id } = await accepting
    await held.started('after')
    held.release('after')
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
    expect((await runtime.thread(thread)).first).toBe(head + 1)
    expect((await runtime.list({ thread })).tasks.map((task) => task.id)).toEqual([id])
  })

  it('an end that no signal tells of is noticed all the same', async () => {
    const here = world()
    const agent = deaf()
    const runtime = await here.open({ agents: { deaf: agent.run }, graceMs: 60_000 })
    await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await agent.begun
    const deleting = runtime.deleteThread(thread)
    await here.quiet()
    await endElsewhere(here)
    await here.clock.advance(1_000)
    await deleting
    expect(await runtime.thread(thread)).toMatchObject(empty)
    agent.letGo()
  })

  it('a delete while the store is down is refused, and can be asked for again', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo } })
    await withHistory(runtime, 'old')
    here.store.down()
    await expect(runtime.deleteThread(thread)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect((await runtime.thread(thread)).messages.length).toBe(2)
    here.store.up()
    await passTime(here.clock, untilReady(runtime))
    await runtime.deleteThread(thread)
    expect(await runtime.thread(thread)).toMatchObject(empty)
  })

  it('a thread can be deleted while the runtime drains', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { echo, held } })
    await withHistory(runtime, 'old')
    await runtime.run({ thread: 'other', agent: 'held', prompt: 'holds the drain' })
    await held.started('holds the drain')
    const closing = runtime.close({ drainMs: 10_000 })
    await runtime.deleteThread(thread)
    expect(await runtime.thread(thread)).toMatchObject(empty)
    held.release('holds the drain')
    await inQuietTime(here, closing, 500)
  })

  it('a delete that a close overtakes is refused, and leaves no timer behind', async () => {
    const here = world()
    const agent = deaf()
    const runtime = await here.open({ agents: { deaf: agent.run } })
    await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await agent.begun
    const deleting = runtime.deleteThread(thread)
    const refused = expect(deleting).rejects.toMatchObject({ code: 'store_unavailable' })
    await here.quiet()
    await inQuietTime(here, runtime.close({ drainMs: 0 }), 500)
    await refused
    agent.letGo()
    expect(here.clock.pendingTimerCount).toBe(0)
  })

  it('two deletes of a thread at once are one', async () => {
    const held = heldAgent()
    const here = world()
    const runtime = await here.open({ agents: { held } })
    await runtime.run({ thread, agent: 'held', prompt: 'go' })
    await held.started('go')
    await inQuietTime(here, Promise.all([runtime.deleteThread(thread), runtime.deleteThread(thread)]), 500)
    expect(here.committed.filter((unit) => unit.erase).length).toBeGreaterThanOrEqual(1)
    expect(await runtime.thread(thread)).toMatchObject(empty)
  })
})
