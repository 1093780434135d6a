import { expect, it } from 'vitest'
import type { AgentContext, Part, RunOptions, Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { logOf, onEachStore } from './world.ts'

const thread = 't'

function ask(runtime: Runtime, prompt: string, options: Partial<RunOptions> = {}) {
  return runtime.run({ thread, agent: 'held', prompt, ...options })
}

/** Reads one message and says what was in it. */
async function listen(ctx: AgentContext): Promise<string> {
  const item = await ctx.receive()
  return JSON.stringify(item && 'payload' in item ? item.payload : item)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a prompt waits in the queue unless it asks for something else', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    await ask(runtime, 'a')
    const run = await ask(runtime, 'b')
    expect(run).toMatchObject({ status: 'pending', position: 0 })
    expect(run).not.toHaveProperty('steered')
    expect(run).not.toHaveProperty('interrupted')
  })

  it('steering reaches the running run, and enters the conversation when it is read', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const run = await ask(runtime, 'a')
    const parts: Part[] = [{ type: 'text', text: 'to the left' }]
    const steering = await ask(runtime, 'left', { onBusy: 'steer' })
    const more = await runtime.run({ thread, agent: 'held', parts, onBusy: 'steer' })
    expect(steering).toMatchObject({ id: run.id, status: 'running', steered: expect.any(String) })
    expect(more.id).toBe(run.id)
    expect(more.steered).not.toBe(steering.steered)
    expect(await runtime.messages(thread)).toHaveLength(1)
    held.release('a', async (ctx) => [await listen(ctx), await listen(ctx)])
    const ended = await runtime.wait(run.id)
    expect(ended?.result).toEqual(['{"content":"left"}', JSON.stringify({ content: parts })])
    const said = (await runtime.messages(thread)).map((message) => [message.id, message.role, message.parts])
    expect(said.slice(1)).toEqual([
      [steering.steered, 'user', [{ type: 'text', text: 'left' }]],
      [more.steered, 'user', parts],
    ])
    expect((await runtime.list({ thread })).tasks).toHaveLength(1)
  })

  it('steering goes to the first pending run if none is running', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held }, concurrency: 1 })
    await runtime.run({ thread: 'elsewhere', agent: 'held', prompt: 'busy' })
    const first = await ask(runtime, 'a')
    await ask(runtime, 'b')
    expect(await ask(runtime, 'left', { onBusy: 'steer' })).toMatchObject({
      id: first.id,
      status: 'pending',
      position: 0,
    })
    held.release('busy')
    held.release('a', listen)
    expect((await runtime.wait(first.id))?.result).toBe('{"content":"left"}')
  })

  it('steering is queued on an idle thread, and on a run that is being cancelled', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held, deaf: () => new Promise(() => {}) } })
    const idle = await ask(runtime, 'a', { onBusy: 'steer' })
    expect(idle).toMatchObject({ status: 'running' })
    expect(idle).not.toHaveProperty('steered')
    held.release('a')
    await runtime.wait(idle.id)
    const deaf = await ask(runtime, 'b', { agent: 'deaf' })
    await runtime.cancel(deaf.id)
    const queued = await ask(runtime, 'c', { onBusy: 'steer' })
    expect(queued).toMatchObject({ status: 'pending', position: 0 })
    expect(queued).not.toHaveProperty('steered')
    expect(queued.id).not.toBe(deaf.id)
  })

  it('steering that comes while the run ends is queued, and not lost with it', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const run = await ask(runtime, 'a')
    await held.started('a')
    const commit = here.store.hold()
    held.release('a')
    await commit.reached
    const steering = ask(runtime, 'left', { onBusy: 'steer' })
    commit.open()
    const queued = await steering
    expect(queued.id).not.toBe(run.id)
    expect(queued).toMatchObject({ status: 'running', input: 'left' })
    expect(queued).not.toHaveProperty('steered')
    await held.started('left')
  })

  it('steering needs a prompt or parts, because a run reads it as a message', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    await ask(runtime, 'a')
    const steering = runtime.run({ thread, agent: 'held', input: { a: 1 }, onBusy: 'steer' })
    await expect(steering).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('steering that was never read becomes a run of its own agent, in its place', async () => {
    const held = heldAgent()
    const other = heldAgent()
    const runtime = await world().open({ agents: { held, other } })
    const run = await ask(runtime, 'a')
    const before = await ask(runtime, 'before')
    const { steered } = await ask(runtime, 'left', { agent: 'other', onBusy: 'steer', metadata: { from: 'me' } })
    const after = await ask(runtime, 'after')
    held.release('a')
    await held.started('before')
    const [grown] = (await runtime.list({ thread })).tasks.filter((task) => task.input === 'left')
    if (!grown) throw new Error('The steering prompt has become a run')
    expect(grown).toMatchObject({ agent: 'other', type: 'run', status: 'pending', metadata: { from: 'me' } })
    expect(grown.position).toBe(0)
    expect((await runtime.get(after.id))?.position).toBe(1)
    const log = await logOf(runtime, thread)
    const ended = log.findIndex((event) => event.type === 'task.completed' && event.task === run.id)
    expect(log[ended + 1]).toMatchObject({ type: 'task.accepted', task: grown.id, data: { steered } })
    for (const [agent, prompt] of [
      [held, 'before'],
      [other, 'left'],
      [held, 'after'],
    ] as const)
      agent.release(prompt)
    await runtime.wait(after.id)
    const order = (await logOf(runtime, thread)).filter((event) => event.type === 'task.started')
    expect(order.map((event) => event.task)).toEqual([run.id, before.id, grown.id, after.id])
  })

  it('steering that was never read survives a crash, and a run that fails', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    await ask(runtime, 'a')
    await ask(runtime, 'left', { onBusy: 'steer' })
    await here.crash()
    const next = await here.open({ agents: { held } })
    held.release('a', () => Promise.reject(new Error('no')))
    await held.started('left')
    const inputs = (await next.list({ thread })).tasks.map((task) => [task.input, task.status])
    expect(inputs).toEqual([
      ['left', 'running'],
      ['a', 'failed'],
    ])
  })

  it('an interrupt cancels the active run and the queue and accepts the new run, in one commit', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const first = await ask(runtime, 'a')
    const second = await ask(runtime, 'b')
    const third = await ask(runtime, 'c', { onBusy: 'interrupt' })
    expect(third.interrupted).toEqual([first.id, second.id])
    expect(third.status).toBe('pending')
    const unit = here.committed.findLast(({ operation }) => operation === 'accept')
    expect(unit?.events.map((event) => [event.task, event.type])).toEqual([
      [first.id, 'task.cancelling'],
      [second.id, 'message.created'],
      [second.id, 'message.created'],
      [second.id, 'task.cancelled'],
      [third.id, 'task.accepted'],
    ])
    await held.started('c')
    expect(held.begun).toEqual(['a', 'c'])
    expect((await runtime.get(first.id))?.status).toBe('cancelled')
  })

  it('an interrupt of an idle thread interrupts nothing', async () => {
    const runtime = await world().open({ agents: { held: heldAgent() } })
    const run = await ask(runtime, 'a', { onBusy: 'interrupt' })
    expect(run).toMatchObject({ status: 'running' })
    expect(run).not.toHaveProperty('interrupted')
  })

  it('an interrupt takes unread steering with it', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const first = await ask(runtime, 'a')
    await ask(runtime, 'left', { onBusy: 'steer' })
    const { interrupted, id } = await ask(runtime, 'b', { onBusy: 'interrupt' })
    expect(interrupted).toHaveLength(2)
    expect(interrupted?.[0]).toBe(first.id)
    await held.started('b')
    expect(await runtime.get(interrupted?.[1] ?? '')).toMatchObject({ input: 'left', status: 'cancelled' })
    expect((await runtime.list({ thread, status: ['pending', 'running'] })).tasks.map((task) => task.id)).toEqual([id])
  })

  it('a rejecting prompt is refused on a busy thread and accepted on an idle one', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const run = await ask(runtime, 'a', { onBusy: 'reject' })
    const { head } = await runtime.thread(thread)
    await expect(ask(runtime, 'b', { onBusy: 'reject' })).rejects.toMatchObject({
      code: 'busy',
      facts: { task: run.id },
    })
    expect((await runtime.thread(thread)).head).toBe(head)
    held.release('a')
    await runtime.wait(run.id)
    expect(await ask(runtime, 'b', { onBusy: 'reject' })).toMatchObject({ status: 'running' })
  })
})
