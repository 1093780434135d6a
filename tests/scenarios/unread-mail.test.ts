import { expect, it } from 'vitest'
import {
  type AgentContext,
  decodeTasks,
  encodeTasks,
  type Runtime,
  restoreTasks,
  snapshotTasks,
} from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, gate, onEachStore } from './world.ts'

const thread = 't'

async function send(runtime: Runtime, task: string, content: unknown): Promise<string> {
  const answer = await runtime.send(task, { content })
  if (!answer.isSent) throw new Error(`It was refused: ${answer.reason}`)
  return answer.id
}

/** What the terminal event and the record of a task say of unread messages; they must be the same. */
async function unreadOf(runtime: Runtime, task: string): Promise<readonly string[] | undefined> {
  await runtime.wait(task)
  const last = (await eventsOf(runtime, thread, task)).at(-1)?.data as { unread?: string[] }
  const { unread } = (await runtime.get(task)) ?? {}
  expect(last.unread).toEqual(unread)
  return unread
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('messages that a task never read are named in its end and with the task, whatever it was and however it ended', async () => {
    const here = world()
    const finish = gate()
    const agents = {
      deaf: () => finish.opened,
      failing: () => finish.opened.then(() => Promise.reject(new Error('no'))),
      once: { run: () => forever(), isResumable: false },
    }
    let runtime = await here.open({ agents })
    const tasks = {
      run: await runtime.run({ thread, agent: 'deaf', prompt: 'go' }),
      pending: await runtime.run({ thread, agent: 'deaf', prompt: 'after' }),
      completed: await runtime.spawn({ thread, agent: 'deaf' }),
      failed: await runtime.spawn({ thread, agent: 'failing' }),
      cancelled: await runtime.spawn({ thread, run: untilStopped }),
      orphaned: await runtime.spawn({ thread, agent: 'once' }),
    }
    const sent: Record<string, string[]> = {}
    for (const [name, { id }] of Object.entries(tasks)) {
      sent[name] = [await send(runtime, id, 'one'), await send(runtime, id, { two: 2 })]
    }
    await runtime.cancel(tasks.cancelled.id)
    await runtime.cancel(tasks.pending.id)
    finish.open()
    for (const name of ['run', 'pending', 'completed', 'failed', 'cancelled'] as const) {
      expect([name, await unreadOf(runtime, tasks[name].id)]).toEqual([name, sent[name]])
    }
    await here.crash()
    runtime = await here.open({ agents })
    expect(await unreadOf(runtime, tasks.orphaned.id)).toEqual(sent['orphaned'])
    expect((await runtime.get(tasks.run.id))?.unread).toEqual(sent['run'])
  })

  it('what was read, steering, and the ends of children are not among them', async () => {
    const finish = gate()
    const hasRead = gate()
    const agents = {
      lead: async (ctx: AgentContext) => {
        await ctx.spawn({ run: () => 'done', name: 'child' })
        await ctx.receive({ only: 'messages' })
        hasRead.open()
        await finish.opened
      },
      other: () => 'steered',
    }
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    await send(runtime, run.id, 'read')
    await hasRead.opened
    await runtime.wait('bg_1')
    await runtime.collect(thread, ['bg_1'])
    await runtime.run({ thread, agent: 'other', prompt: 'left', onBusy: 'steer' })
    const unread = await send(runtime, run.id, 'unread')
    finish.open()
    expect(await unreadOf(runtime, run.id)).toEqual([unread])
    const [steered] = (await runtime.list({ thread, type: 'run', limit: 1 })).tasks
    expect(await runtime.wait(steered?.id ?? '')).toMatchObject({ agent: 'other', result: 'steered' })
    expect(await unreadOf(runtime, steered?.id ?? '')).toBeUndefined()
  })

  it('a message to a task that is being cancelled is refused, and leaves nothing behind', async () => {
    const finish = gate()
    const runtime = await world().open({ agents: { deaf: () => finish.opened } })
    const [run, task] = [
      await runtime.run({ thread, agent: 'deaf', prompt: 'go' }),
      await runtime.spawn({ thread, agent: 'deaf' }),
    ]
    for (const { id } of [run, task]) {
      await runtime.cancel(id)
      expect(await runtime.send(id, { content: 'wait' })).toEqual({
        isSent: false,
        reason: 'task_terminated',
        taskStatus: 'cancelled',
      })
    }
    finish.open()
    for (const { id } of [run, task]) {
      expect(await unreadOf(runtime, id)).toBeUndefined()
      const types = (await eventsOf(runtime, thread, id)).map(({ type }) => type)
      expect(types).not.toContain('inbox.accepted')
    }
  })

  it('a message that loses the race with a cancel is refused as well', async () => {
    const here = world()
    const runtime = await here.open()
    const task = await runtime.spawn({ thread, run: untilStopped })
    const held = here.store.hold()
    const cancelling = runtime.cancel(task.id)
    await held.reached
    const sending = runtime.send(task.id, { content: 'too late' })
    held.open()
    expect(await cancelling).toBe(true)
    expect(await sending).toMatchObject({ isSent: false, reason: 'task_terminated' })
  })

  it('at most a hundred are named, the oldest, and a snapshot keeps them', async () => {
    const finish = gate()
    const runtime = await world().open({ agents: { deaf: () => finish.opened } })
    const task = await runtime.spawn({ thread, agent: 'deaf' })
    await Promise.all(Array.from({ length: 120 }, (_, n) => send(runtime, task.id, n)))
    finish.open()
    const unread = await unreadOf(runtime, task.id)
    const events = await eventsOf(runtime, thread, task.id)
    const accepted = events.flatMap((event) => (event.type === 'inbox.accepted' ? event.data.id : []))
    expect([accepted.length, unread]).toEqual([120, accepted.slice(0, 100)])
    const other = await world().open()
    await restoreTasks(other, decodeTasks(encodeTasks(await snapshotTasks(runtime, thread))))
    expect(await unreadOf(other, task.id)).toEqual(unread)
  })
})
