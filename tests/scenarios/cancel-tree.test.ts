import { expect, it } from 'vitest'
import { type AgentContext, type AgentFunction, failed, type SpawnOptions, type Task } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { forever, untilStopped } from './bodies.ts'
import { unitWith } from './unit-with.ts'
import { gate, logOf, onEachStore } from './world.ts'

/** Spawns a task under another one, from outside. */
function under(runtime: Runtime, parent: Task, options: SpawnOptions = {}): Promise<Task> {
  return runtime.spawn({ thread: 't', run: untilStopped, parent: { task: parent.id }, ...options })
}

/** A root, its two children, and a grandchild under the first. */
async function family(runtime: Runtime, run: AgentFunction = untilStopped): Promise<Task[]> {
  const root = await runtime.spawn({ thread: 't', run })
  const child = await under(runtime, root)
  const sibling = await under(runtime, root)
  return [root, child, sibling, await under(runtime, child)]
}

async function statusesOf(runtime: Runtime, tasks: readonly Task[]): Promise<unknown[]> {
  return Promise.all(tasks.map(async ({ id }) => (await runtime.get(id))?.status))
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-04 cancelTree cancels a task with all its descendants and says how many', async () => {
    const here = world()
    const runtime = await here.open()
    const outside = await runtime.spawn({ thread: 't', run: untilStopped })
    const root = await runtime.spawn({ thread: 't', run: untilStopped })
    const child = await under(runtime, root)
    const grandchild = await under(runtime, child)
    expect(await runtime.cancelTree(root.id)).toBe(3)
    for (const { id } of [root, child, grandchild]) {
      expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    }
    expect(unitWith(here.committed, root.id, 'task.cancelling')).toEqual([
      `${root.id} task.cancelling`,
      `${child.id} task.cancelling`,
      `${grandchild.id} task.cancelling`,
    ])
    expect(await runtime.get(outside.id)).toMatchObject({ status: 'running' })
    expect(await runtime.cancelTree(root.id)).toBe(0)
  })

  it('cancelTree of a child leaves its parent and its siblings alone, and counts what is being cancelled already', async () => {
    const runtime = await world().open()
    const [root, child, sibling] = (await family(runtime, untilStopped)) as [Task, Task, Task]
    const stubborn = await under(runtime, child, { run: forever })
    expect(await runtime.cancel(stubborn.id)).toBe(true)
    expect(await runtime.cancelTree(child.id)).toBe(3)
    await runtime.wait(child.id)
    expect(await statusesOf(runtime, [root, child, sibling])).toEqual(['running', 'cancelled', 'running'])
  })

  it.each([
    ['completes', () => 'done', 'completed'],
    ['fails', () => failed('broken'), 'failed'],
    ['is cancelled', (ctx: AgentContext) => untilStopped(ctx), 'cancelled'],
  ])('a parent that %s cancels its attached children in the same commit, and so on down', async (_, end, status) => {
    const here = world()
    const runtime = await here.open({ concurrency: 3 })
    const finish = gate()
    const tasks = await family(runtime, async (ctx) => {
      await finish.opened
      return end(ctx)
    })
    const [root, child, sibling, grandchild] = tasks as [Task, Task, Task, Task]
    expect(grandchild.status).toBe('pending')
    if (status === 'cancelled') await runtime.cancel(root.id)
    finish.open()
    for (const { id } of tasks) await runtime.wait(id)
    expect(unitWith(here.committed, root.id, `task.${status}`)).toEqual([
      `${root.id} task.${status}`,
      `${child.id} task.cancelling`,
      `${sibling.id} task.cancelling`,
      `${grandchild.id} task.cancelled`,
    ])
    expect(await statusesOf(runtime, tasks)).toEqual([status, 'cancelled', 'cancelled', 'cancelled'])
    expect(await runtime.get(grandchild.id)).toMatchObject({ attempt: 0 })
    const told = (await logOf(runtime, 't')).find(({ task, type }) => task === child.id && type === 'task.cancelling')
    expect(told?.data).toEqual({ by: root.id, reason: expect.stringContaining(root.id) })
  })

  it('the children of a parent that ignores its cancel end with it, at most the grace time later', async () => {
    const here = world()
    const runtime = await here.open({ graceMs: 5_000 })
    const parent = await runtime.spawn({ thread: 't', run: forever })
    const child = await under(runtime, parent, { run: forever })
    expect(await runtime.cancel(parent.id)).toBe(true)
    expect(await runtime.get(child.id)).not.toHaveProperty('cancelRequestedAt')
    await here.clock.advance(5_000)
    expect(await runtime.wait(parent.id)).toMatchObject({ status: 'cancelled' })
    expect(await runtime.get(child.id)).toMatchObject({ status: 'running', cancelRequestedAt: here.clock.now() })
    await here.clock.advance(5_000)
    expect(await runtime.wait(child.id)).toMatchObject({ status: 'cancelled' })
  })

  it('a task cancelled before it starts takes its attached children with it', async () => {
    const here = world()
    const runtime = await here.open({ concurrency: 1 })
    await runtime.spawn({ thread: 't', run: untilStopped })
    const parent = await runtime.spawn({ thread: 't', run: untilStopped })
    const child = await under(runtime, parent)
    const detached = await under(runtime, parent, { detached: true })
    expect(await runtime.cancel(parent.id)).toBe(true)
    expect(await statusesOf(runtime, [parent, child, detached])).toEqual(['cancelled', 'cancelled', 'pending'])
    expect(unitWith(here.committed, parent.id, 'task.cancelled')).toContain(`${child.id} task.cancelled`)
  })

  it('a detached child outlives its parent, with what is attached to it, and no cancel of the tree reaches it', async () => {
    const runtime = await world().open()
    const finish = gate()
    const root = await runtime.spawn({ thread: 't', run: untilStopped })
    const detached = await under(runtime, root, { detached: true, run: () => finish.opened.then(() => 'kept') })
    const below = await under(runtime, detached)
    expect(await runtime.cancelTree(root.id)).toBe(1)
    await runtime.wait(root.id)
    expect(await statusesOf(runtime, [detached, below])).toEqual(['running', 'running'])
    expect(await runtime.cancelTree(root.id)).toBe(0)
    expect(await runtime.get(detached.id)).toMatchObject({ detached: true, parent: { task: root.id } })
    const late = await under(runtime, detached)
    finish.open()
    expect(await runtime.wait(detached.id)).toMatchObject({ status: 'completed', result: 'kept' })
    for (const { id } of [below, late]) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    expect((await runtime.results('t')).results).toContainEqual({
      task: detached.id,
      status: 'completed',
      answer: 'kept',
    })
  })

  it('cancelAll reaches detached tasks too', async () => {
    const runtime = await world().open()
    const root = await runtime.spawn({ thread: 't', run: untilStopped })
    const detached = await under(runtime, root, { detached: true })
    expect(await runtime.cancelAll('t')).toBe(2)
    expect(await runtime.wait(detached.id)).toMatchObject({ status: 'cancelled' })
  })

  it('a spawn under an ended parent or one being cancelled is refused, and nothing is written', async () => {
    const runtime = await world().open()
    const ended = await runtime.spawn({ thread: 't', run: () => 'done' })
    await runtime.wait(ended.id)
    const cancelling = await runtime.spawn({ thread: 't', run: forever })
    await runtime.cancel(cancelling.id)
    const { head } = await runtime.thread('t')
    for (const detached of [false, true]) {
      const refused = (parent: Task, taskStatus: string) =>
        expect(under(runtime, parent, { detached })).rejects.toMatchObject({
          code: 'task_terminated',
          facts: { taskStatus },
        })
      await refused(ended, 'completed')
      await refused(cancelling, 'cancelled')
    }
    const elsewhere = runtime.spawn({ thread: 'u', run: untilStopped, parent: { task: cancelling.id } })
    await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' })
    expect((await runtime.thread('t')).head).toBe(head)
    expect((await runtime.thread('u')).head).toBe(0)
  })

  it('a task that is being cancelled can spawn no more, and may clean up all the same', async () => {
    const runtime = await world().open()
    const refusal = gate<unknown>()
    const run = async (ctx: AgentContext) => {
      await untilStopped(ctx).catch(() => undefined)
      await ctx.spawn({ run: untilStopped }).catch(refusal.open)
      await ctx.emit('cleaned up')
    }
    const task = await runtime.spawn({ thread: 't', run })
    await runtime.cancelTree(task.id)
    expect(await refusal.opened).toMatchObject({ code: 'task_terminated' })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'cancelled' })
    expect((await runtime.list({ thread: 't' })).tasks).toHaveLength(1)
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toContain('custom')
  })

  it('a tree is at most 8 deep', async () => {
    const runtime = await world().open()
    let last = await runtime.spawn({ thread: 't', run: untilStopped })
    for (let depth = 2; depth <= 8; depth += 1) last = await under(runtime, last)
    const { head } = await runtime.thread('t')
    await expect(under(runtime, last)).rejects.toMatchObject({ code: 'limit_reached' })
    expect((await runtime.thread('t')).head).toBe(head)
    expect(await runtime.cancelTree('bg_0')).toBe(8)
  })

  it('a task has at most 64 live children, and may have another once one has ended', async () => {
    const runtime = await world().open()
    const parent = await runtime.spawn({ thread: 't', run: untilStopped })
    const children = await Promise.all(Array.from({ length: 64 }, () => under(runtime, parent)))
    const { head } = await runtime.thread('t')
    await expect(under(runtime, parent)).rejects.toMatchObject({ code: 'limit_reached' })
    await expect(under(runtime, parent, { detached: true })).rejects.toMatchObject({ code: 'limit_reached' })
    expect((await runtime.thread('t')).head).toBe(head)
    await runtime.cancel(children[0]?.id ?? '')
    await runtime.wait(children[0]?.id ?? '')
    await under(runtime, parent)
    expect(await runtime.cancelTree(parent.id)).toBe(65)
  })
})
