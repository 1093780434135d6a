import { expect, it } from 'vitest'
import { untilStopped } from './bodies.ts'
import { logOf, onEachStore, type World } from './world.ts'

const thread = 't'

/** A task with an attached child. */
async function family(world: World) {
  const runtime = await world.open()
  const parent = await runtime.spawn({ thread, run: untilStopped })
  const child = await runtime.spawn({ thread, run: untilStopped, parent: { task: parent.id } })
  return { runtime, parent: parent.id, child: child.id }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a cancel of a task takes its tree, and names all that had not ended', async () => {
    const { runtime, parent, child } = await family(world())
    expect(await runtime.cancelTask(parent, { reason: 'enough' })).toEqual([parent, child])
    for (const id of [parent, child]) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    const told = (await logOf(runtime, thread)).filter(({ type }) => type === 'task.cancelling')
    expect(told[0]).toMatchObject({ task: parent, data: { by: 'owner', reason: 'enough' } })
  })

  it('a cancel without the tree names the task alone; its child follows at its end', async () => {
    const { runtime, parent, child } = await family(world())
    expect(await runtime.cancelTask(parent, { tree: false })).toEqual([parent])
    expect(await runtime.wait(child)).toMatchObject({ status: 'cancelled' })
  })

  it('a cancel of a task that has ended names nothing', async () => {
    const runtime = await world().open()
    const { id } = await runtime.spawn({ thread, run: () => 1 })
    await runtime.wait(id)
    expect(await runtime.cancelTask(id)).toEqual([])
  })

  it('a task that is not there, of another principal, or of another thread than was named is none', async () => {
    const { runtime, parent } = await family(world())
    expect(await runtime.cancelTask('bg_99')).toBeUndefined()
    expect(await runtime.as('bob').cancelTask(parent)).toBeUndefined()
    expect(await runtime.as('bob').cancelTask(parent, { thread })).toBeUndefined()
    expect(await runtime.cancelTask(parent, { thread: 'other' })).toBeUndefined()
    expect(await runtime.get(parent)).toMatchObject({ status: 'running' })
    expect((await runtime.get(parent))?.cancelRequestedAt).toBeUndefined()
    expect(await runtime.cancelTask(parent, { thread, tree: false })).toEqual([parent])
  })

  it('a cancel is refused for what it cannot mean', async () => {
    const { runtime, parent } = await family(world())
    const invalid = { code: 'invalid_request' }
    await expect(runtime.cancelTask(parent, { thread: 'a b' })).rejects.toMatchObject(invalid)
    await expect(runtime.cancelTask('bg_99', { thread: 'a b' })).rejects.toMatchObject(invalid)
    await expect(runtime.cancelTask(parent, { tree: 'no' as unknown as boolean })).rejects.toMatchObject(invalid)
  })
})
