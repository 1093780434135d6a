import { expect, it } from 'vitest'
import { agent, type OnBusy, type RunOptions, type Task } from '../../src/index.ts'
import { refusingSchema } from '../../src/runtime/agents/refusing-schema.ts'
import { heldAgent } from './held-agent.ts'
import { onEachStore } from './world.ts'

const request = { thread: 't', agent: 'held', prompt: 'go', idempotencyKey: 'key-1' } as const

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('RUN-16 the same prompt with one idempotency key is one run', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [first, second] = await Promise.all([runtime.run(request), runtime.run(request)])
    expect(first).not.toHaveProperty('isReplayed')
    expect(second).toMatchObject({ id: first.id, isReplayed: true })
    held.release('go')
    const ended = await runtime.wait(first.id)
    expect(await runtime.run(request)).toEqual({ ...ended, isReplayed: true })
    expect((await runtime.list()).tasks).toHaveLength(1)
    expect(held.begun).toEqual(['go'])
  })

  it.for<[string, Partial<RunOptions>]>([
    ['prompt', { prompt: 'go away' }],
    ['thread', { thread: 'other' }],
    ['onBusy', { onBusy: 'interrupt' }],
    ['metadata', { metadata: { a: 1 } }],
    ['timeout', { timeoutMs: 1_000 }],
    ['onResult', { onResult: 'wake' }],
  ])('a key used again for another %s is a conflict, and nothing is accepted', async ([, other]) => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const { id } = await runtime.run(request)
    await expect(runtime.run({ ...request, ...other })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      facts: { task: id },
    })
    expect((await runtime.list()).tasks).toHaveLength(1)
    expect(await runtime.get(id)).not.toHaveProperty('cancelRequestedAt')
  })

  it.for<[string, Omit<RunOptions, 'thread'>]>([
    ['for an agent that is not registered', { agent: 'nobody', prompt: 'go' }],
    ['for a prompt that is too large', { agent: 'held', prompt: 'x'.repeat(2_000_000) }],
    ['to steer with an input', { agent: 'held', input: 1, onBusy: 'steer' }],
    ['for an input that its agent does not take', { agent: 'strict', input: 1 }],
  ])('a key used again %s is a conflict too', async ([, other]) => {
    const strict = agent({ input: refusingSchema(() => [{ message: 'no' }]), run: async () => undefined })
    const runtime = await world().open({ agents: { held: heldAgent(), strict } })
    const { id } = await runtime.run(request)
    const conflict = { code: 'idempotency_conflict', facts: { task: id } }
    await expect(runtime.run({ thread: 't', idempotencyKey: 'key-1', ...other })).rejects.toMatchObject(conflict)
  })

  it('a key used again for a name that no task may have is a conflict too', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const { id } = await runtime.spawn({ ...request, name: 'helper' })
    const conflict = { code: 'idempotency_conflict', facts: { task: id } }
    await expect(runtime.spawn({ ...request, name: 'self' })).rejects.toMatchObject(conflict)
  })

  it('a run and a background task never share a key', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    await runtime.run(request)
    await expect(runtime.spawn(request)).rejects.toMatchObject({ code: 'idempotency_conflict' })
  })

  it('the same background task with one key is one task', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const named = { ...request, name: 'helper' }
    const task = await runtime.spawn(named)
    expect(await runtime.spawn(named)).toMatchObject({ id: task.id, isReplayed: true })
    expect((await runtime.list()).tasks).toHaveLength(1)
  })

  it('a repeated request is answered with its place in the queue as it is now', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    for (const prompt of ['a', 'b']) await runtime.run({ thread: 't', agent: 'held', prompt })
    expect(await runtime.run(request)).toMatchObject({ status: 'pending', position: 1 })
    held.release('a')
    await held.started('b')
    expect(await runtime.run(request)).toMatchObject({ status: 'pending', position: 0, isReplayed: true })
  })

  it('a key survives a crash', async () => {
    const here = world()
    const held = heldAgent()
    const { id } = await (await here.open({ agents: { held } })).run(request)
    await held.started('go')
    await here.crash()
    const next = await here.open({ agents: { held } })
    expect(await next.run(request)).toMatchObject({ id, isReplayed: true })
    expect((await next.list()).tasks).toHaveLength(1)
    await expect(next.run({ ...request, prompt: 'else' })).rejects.toMatchObject({ code: 'idempotency_conflict' })
  })

  it('RUN-16 a repeated request is answered with its task also where it would not be accepted any more', async () => {
    const here = world()
    const before = await here.open({ agents: { held: heldAgent() } })
    const asked = { ...request, metadata: { note: 'x'.repeat(3_000) } }
    const run = await before.run(asked)
    const task = await before.spawn({ ...asked, idempotencyKey: 'key-2' })
    await here.crash()
    const after = await here.open({ agents: { other: heldAgent() }, limits: { eventBytes: 4_096 } })
    expect(await after.run(asked)).toMatchObject({ id: run.id, isReplayed: true })
    expect(await after.spawn({ ...asked, idempotencyKey: 'key-2' })).toMatchObject({ id: task.id, isReplayed: true })
    await expect(after.run({ ...asked, idempotencyKey: 'key-3' })).rejects.toMatchObject({ code: 'too_large' })
  })

  it('a request whose answer was lost in a crash is found by its key', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    here.store.plan((units) => (units.some((unit) => unit.key) ? 'crash_after' : 'none'))
    void runtime.run(request)
    await here.store.crashed
    await here.crash()
    const next = await here.open({ agents: { held } })
    const run = await next.run(request)
    expect(run.isReplayed).toBe(true)
    expect((await next.list()).tasks.map((task) => task.id)).toEqual([run.id])
  })

  it("a key is its principal's own", async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const mine = await runtime.run(request)
    const theirs = await runtime.as('bob').run(request)
    expect(theirs.id).not.toBe(mine.id)
    expect(theirs).not.toHaveProperty('isReplayed')
  })

  it.for<OnBusy>(['queue', 'reject', 'interrupt', 'steer'])(
    'a repeated request with onBusy %s is answered with its task, however busy the thread is by then',
    async (onBusy) => {
      const held = heldAgent()
      const runtime = await world().open({ agents: { held }, limits: { queuedRunsPerThread: 1 } })
      const first = await runtime.run({ ...request, onBusy })
      const waiting = await runtime.run({ thread: 't', agent: 'held', prompt: 'next' })
      const { head } = await runtime.thread('t')
      const again = await runtime.run({ ...request, onBusy })
      expect(again).toMatchObject({ id: first.id, status: 'running', isReplayed: true })
      expect((await runtime.thread('t')).head).toBe(head)
      expect(await runtime.get(waiting.id)).toMatchObject({ status: 'pending' })
    },
  )

  it('a refusal is not kept: the same request is accepted once it can be', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const other = await runtime.run({ thread: 't', agent: 'held', prompt: 'other' })
    const asked = { ...request, onBusy: 'reject' } as const
    await expect(runtime.run(asked)).rejects.toMatchObject({ code: 'busy', facts: { task: other.id } })
    await expect(runtime.run(asked)).rejects.toMatchObject({ code: 'busy' })
    held.release('other')
    await runtime.wait(other.id)
    const run = await runtime.run(asked)
    expect(run).not.toHaveProperty('isReplayed')
    expect(await runtime.run(asked)).toMatchObject({ id: run.id, isReplayed: true })
  })

  it('a repeated request that steered is answered with the run it steered and the message it became', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const run = await runtime.run({ thread: 't', agent: 'held', prompt: 'first' })
    const steer = { ...request, onBusy: 'steer' } as const
    const { steered: message } = await runtime.run(steer)
    expect(message).toEqual(expect.any(String))
    expect(await runtime.run(steer)).toMatchObject({ id: run.id, steered: message, isReplayed: true })
    const other = { ...steer, prompt: 'another' }
    await expect(runtime.run(other)).rejects.toMatchObject({ code: 'idempotency_conflict', facts: { task: run.id } })
    const steered = (await runtime.thread('t')).tasks.filter((task: Task) => task.input === 'go')
    expect(steered).toEqual([])
  })

  it('a repeated request that could not steer is answered with its own run, and no message', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const steer = { ...request, onBusy: 'steer' } as const
    const run = await runtime.run(steer)
    const again = await runtime.run(steer)
    expect(again).toMatchObject({ id: run.id, isReplayed: true })
    expect(again).not.toHaveProperty('steered')
  })

  it.for(['', ' ', 'a b', 'é', 'x'.repeat(201)])('%j is no idempotency key', async (idempotencyKey) => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    await expect(runtime.run({ ...request, idempotencyKey })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
