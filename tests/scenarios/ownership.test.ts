import { expect, it } from 'vitest'
import type { Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

const thread = 't'

/** What bob is told of a task: nothing that a task which does not exist would not tell him. */
async function answersTo(bob: Runtime, task: string): Promise<Record<string, unknown>> {
  const told = async (asking: Promise<unknown>) => asking.catch((error: unknown) => codeOf(error))
  return {
    get: await told(bob.get(task)),
    wait: await told(bob.wait(task)),
    cancel: await told(bob.cancel(task)),
    cancelTree: await told(bob.cancelTree(task)),
    send: await told(bob.send(task, { content: 'hello' })),
    collect: await told(bob.collect(thread, [task])),
    subscribe: await told(eventsUntil(bob, { thread, task }, () => true)),
    children: await told(bob.list({ parent: task })),
    spawn: await told(bob.spawn({ thread, agent: 'held', prompt: 'x', parent: { task } })),
  }
}

function codeOf(error: unknown): unknown {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return code ?? error
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it.for(['running', 'pending', 'ended'])(
    "another principal's %s task is as one that does not exist",
    async (status) => {
      const held = heldAgent()
      const runtime = await world().open({ agents: { held } })
      const alice = runtime.as('alice')
      const bob = runtime.as('bob')
      const first = await alice.run({ thread, agent: 'held', prompt: 'first' })
      const second = await alice.run({ thread, agent: 'held', prompt: 'second' })
      const result = await alice.spawn({ thread, agent: 'held', prompt: 'result' })
      held.release('result')
      await alice.wait(result.id)
      const task = { running: first, pending: second, ended: result }[status]?.id ?? ''
      const before = await alice.thread(thread)
      const answers = await answersTo(bob, task)
      expect(answers).toEqual(await answersTo(bob, 'bg_999'))
      expect(answers).toMatchObject({
        get: undefined,
        cancel: false,
        send: { isSent: false, reason: 'not_found' },
        collect: [],
        subscribe: 'not_found',
        spawn: 'not_found',
      })
      expect(await alice.thread(thread)).toEqual(before)
      expect((await alice.results(thread)).results.map((each) => each.task)).toEqual([result.id])
    },
  )

  it('two principals who use the same thread id never meet', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const alice = runtime.as('alice')
    const bob = runtime.as('bob')
    const hers = await alice.run({ thread, agent: 'held', prompt: 'hers' })
    const his = await bob.run({ thread, agent: 'held', prompt: 'his', onBusy: 'reject' })
    const named = { thread, agent: 'held', name: 'helper' }
    await alice.spawn({ ...named, prompt: 'hers too' })
    await bob.spawn({ ...named, prompt: 'his too' })
    expect(await alice.cancelThread(thread)).toEqual([hers.id])
    expect(await bob.get(his.id)).toMatchObject({ status: 'running' })
    expect(await runtime.get(his.id)).toBeUndefined()
    held.release('his')
    await bob.wait(his.id)
    const prompts = (owner: Runtime) => owner.list().then(({ tasks }) => tasks.map((task) => task.input))
    expect([await prompts(alice), await prompts(bob), await prompts(runtime)]).toEqual([
      ['hers too', 'hers'],
      ['his too', 'his'],
      [],
    ])
    for (const [owner, task] of [
      [alice, hers],
      [bob, his],
    ] as const) {
      const log = await logOf(owner, thread)
      expect(log.map((event) => event.seq)).toEqual(log.map((_event, index) => index + 1))
      expect(log[0]?.task).toBe(task.id)
      expect((await owner.threads()).threads.map((each) => each.thread)).toEqual([thread])
      expect((await owner.messages(thread))[0]?.task).toBe(task.id)
    }
  })

  it("a task of the principal's other thread is not found in this one", async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const { id } = await runtime.spawn({ thread: 'other', agent: 'held', prompt: 'a' })
    await runtime.run({ thread, agent: 'held', prompt: 'b' })
    await expect(eventsUntil(runtime, { thread, task: id }, () => true)).rejects.toMatchObject({ code: 'not_found' })
    expect(await runtime.send(id, { content: 'x' }, { thread })).toEqual({ isSent: false, reason: 'not_owner' })
    held.release('a')
    await runtime.wait(id)
    expect(await runtime.collect(thread, [id])).toEqual([])
    expect(await runtime.collect('other', [id])).toEqual([id])
  })

  it.for(['', 'a/b', 'a b', 'é', 'x'.repeat(129)])('%j is no principal', async (name) => {
    const runtime = await world().open()
    expect(() => runtime.as(name)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})
