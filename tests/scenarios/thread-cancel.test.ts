import { expect, it } from 'vitest'
import type { AgentContext, Runtime, Task } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { logOf, onEachStore } from './world.ts'

const thread = 't'

/** Spawns an attached child with a child of its own and a detached one, then waits to be cancelled. */
async function family(ctx: AgentContext, prompt: string): Promise<unknown> {
  if (prompt !== 'leaf') await ctx.spawn({ agent: 'family', prompt: prompt === 'root' ? 'branch' : 'leaf' })
  if (prompt === 'root') await ctx.spawn({ agent: 'held', prompt: 'detached', detached: true })
  await ctx.emit('ready')
  return ctx.sleep(1_000_000)
}

async function withFamily(runtime: Runtime): Promise<Record<'root' | 'branch' | 'leaf' | 'detached', Task>> {
  await runtime.run({ thread, agent: 'family', prompt: 'root' })
  let readyCount = 0
  for await (const event of runtime.subscribe({ thread })) {
    if (event.type === 'custom') readyCount += 1
    if (readyCount === 3) break
  }
  const { tasks } = await runtime.list({ thread })
  const find = (input: string): Task => {
    const found = tasks.find((task) => task.input === input)
    if (!found) throw new Error(`${input} is there`)
    return found
  }
  return { root: find('root'), branch: find('branch'), leaf: find('leaf'), detached: find('detached') }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a cancel of the runs takes the active run, its attached tree and the queue, and leaves the rest', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { family, held } })
    const { root, branch, leaf, detached } = await withFamily(runtime)
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'queued' })
    const beside = await runtime.spawn({ thread, agent: 'held', prompt: 'beside' })
    const elsewhere = await runtime.run({ thread: 'other', agent: 'held', prompt: 'elsewhere' })
    expect(await runtime.cancelThread(thread)).toEqual([root.id, branch.id, leaf.id, queued.id])
    for (const task of [root, branch, leaf, queued]) {
      expect(await runtime.wait(task.id)).toMatchObject({ status: 'cancelled' })
    }
    for (const task of [detached, beside, elsewhere]) {
      expect(await runtime.get(task.id)).toMatchObject({ status: 'running' })
    }
    expect(held.begun).not.toContain('queued')
  })

  it('a cancel of all takes every live task of the thread, detached ones too', async () => {
    const runtime = await world().open({ agents: { family, held: heldAgent() } })
    const { root, branch, leaf, detached } = await withFamily(runtime)
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'queued' })
    const cancelled = await runtime.cancelThread(thread, { scope: 'all', reason: 'enough' })
    expect(cancelled[0]).toBe(root.id)
    expect(cancelled.at(-1)).toBe(queued.id)
    expect(cancelled.toSorted()).toEqual([root.id, branch.id, leaf.id, detached.id, queued.id].toSorted())
    for (const id of cancelled) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    const asked = (await logOf(runtime, thread)).filter((event) => event.type === 'task.cancelling')
    expect(asked.map((event) => event.data)).toEqual(Array(4).fill({ by: 'owner', reason: 'enough' }))
    expect(await runtime.hasRunning(thread)).toBe(false)
  })

  it('a cancel of all takes each root with its tree before the next, and the queue last', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const run = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'queued' })
    const spawn = (prompt: string, parent?: string) =>
      runtime.spawn({ thread, agent: 'held', prompt, ...(parent !== undefined && { parent: { task: parent } }) })
    const beside = await spawn('beside')
    const besideChild = await spawn('child of beside', beside.id)
    const runChild = await spawn('child of the run', run.id)
    const order = [run, runChild, beside, besideChild, queued].map(({ id }) => id)
    expect(await runtime.cancelThread(thread, { scope: 'all' })).toEqual(order)
  })

  it('a run accepted after the cancel is not touched by it', async () => {
    const here = world()
    const runtime = await here.open({ agents: { held: heldAgent(), deaf: () => new Promise(() => {}) } })
    const deaf = await runtime.run({ thread, agent: 'deaf', prompt: 'a' })
    const before = await runtime.run({ thread, agent: 'held', prompt: 'before' })
    const commit = here.store.hold()
    const cancelling = runtime.cancelThread(thread)
    await commit.reached
    const accepting = runtime.run({ thread, agent: 'held', prompt: 'after' })
    commit.open()
    expect(await cancelling).toEqual([deaf.id, before.id])
    const after = await accepting
    expect(await runtime.get(after.id)).toMatchObject({ status: 'pending', position: 0 })
  })

  it('a second cancel names again what has not ended, and writes nothing', async () => {
    const runtime = await world().open({ agents: { deaf: () => new Promise(() => {}) } })
    const { id } = await runtime.run({ thread, agent: 'deaf', prompt: 'a' })
    expect(await runtime.cancelThread(thread)).toEqual([id])
    const { head } = await runtime.thread(thread)
    expect(await runtime.cancelThread(thread)).toEqual([id])
    expect((await runtime.thread(thread)).head).toBe(head)
  })

  it('a cancel of an idle thread, or of one never used, names nothing and stores nothing', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    expect(await runtime.cancelThread('never')).toEqual([])
    expect((await runtime.thread('never')).head).toBe(0)
    const { id } = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    held.release('a')
    await runtime.wait(id)
    const { head } = await runtime.thread(thread)
    expect(await runtime.cancelThread(thread, { scope: 'all' })).toEqual([])
    expect((await runtime.thread(thread)).head).toBe(head)
  })

  it('unread steering is accepted and cancelled in the commit of the cancel, and named by it', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const run = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    const { steered } = await runtime.run({ thread, agent: 'held', prompt: 'left', onBusy: 'steer' })
    const [first, second, ...others] = await runtime.cancelThread(thread)
    expect([first, others]).toEqual([run.id, []])
    const unit = here.committed.findLast(({ operation }) => operation === 'cancel')
    expect(unit?.events.map((event) => [event.task, event.type])).toEqual([
      [run.id, 'task.cancelling'],
      [second, 'task.accepted'],
      [second, 'message.created'],
      [second, 'message.created'],
      [second, 'task.cancelled'],
    ])
    expect(JSON.parse(unit?.events[1]?.data ?? '{}')).toMatchObject({ steered, task: { input: 'left' } })
    await runtime.wait(run.id)
    expect((await runtime.list({ thread })).tasks).toHaveLength(2)
    const said = await runtime.messages(thread)
    expect(said.map((message) => [message.role, message.finish, message.task])).toEqual([
      ['user', undefined, run.id],
      ['user', undefined, second],
      ['assistant', 'cancelled', second],
      ['assistant', 'cancelled', run.id],
    ])
  })

  it('a cancel of one run leaves the steering that it never read to become a run', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const run = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    await runtime.run({ thread, agent: 'held', prompt: 'left', onBusy: 'steer' })
    expect(await runtime.cancelTree(run.id)).toBe(1)
    await held.started('left')
    expect((await runtime.get(run.id))?.status).toBe('cancelled')
  })

  it('a queued run that is cancelled leaves its prompt and its ending in the conversation', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const first = await runtime.run({ thread, agent: 'held', prompt: 'a' })
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'b' })
    expect(await runtime.cancel(queued.id, 'not needed')).toBe(true)
    const ended = await runtime.get(queued.id)
    expect(ended).toMatchObject({ status: 'cancelled', attempt: 0, epoch: 0, error: { code: 'cancelled' } })
    expect(ended?.error?.message).toBe('The task was cancelled by owner: not needed')
    const events = (await logOf(runtime, thread)).filter((event) => event.task === queued.id)
    expect(events.map((event) => event.type)).toEqual([
      'task.accepted',
      'message.created',
      'message.created',
      'task.cancelled',
    ])
    expect(events.every((event) => event.epoch === undefined)).toBe(true)
    held.release('a')
    await runtime.wait(first.id)
    expect(held.begun).toEqual(['a'])
  })
})
