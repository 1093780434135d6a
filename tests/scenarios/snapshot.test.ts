import { expect, it } from 'vitest'
import type { AgentContext, Event, Part, Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { foldAll, placeless } from './thread-laws.ts'
import { eventsUntil, gate, logOf, onEachStore, type World } from './world.ts'

const thread = 't'

type Snapshot = Awaited<ReturnType<Runtime['thread']>>

/** What a snapshot must hold if it was taken at its head: nothing later, and nothing less. */
function expectConsistent(snapshot: Snapshot, log: readonly Event[]): void {
  const before = log.slice(0, snapshot.head)
  expect(before).toHaveLength(snapshot.head)
  const tasks = foldAll(before)
  expect(snapshot.tasks.map(placeless)).toEqual(tasks)
  const said = before.flatMap((event) => (event.type === 'message.created' ? [event.data.message] : []))
  expect(snapshot.messages).toEqual(said)
  const texts = tasks
    .filter((task) => task.status === 'running')
    .map((task) => ({ task: task.id, text: textOf(before, task.id) }))
  expect(snapshot.live).toEqual(
    texts.filter(({ text }) => text !== '').map(({ task, text }) => ({ task, parts: [{ type: 'text', text }] })),
  )
}

function textOf(log: readonly Event[], task: string): string {
  return log.map((event) => (event.task === task && event.type === 'text.delta' ? event.data.text : '')).join('')
}

async function livePartsOf(runtime: Runtime, task: string): Promise<readonly Part[] | undefined> {
  return (await runtime.thread(thread)).live.find((each) => each.task === task)?.parts
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a thread never used reads as empty', async () => {
    const runtime = await world().open()
    expect(await runtime.thread('never')).toEqual({
      thread: 'never',
      head: 0,
      first: 1,
      watchers: 0,
      messages: [],
      tasks: [],
      live: [],
      questions: [],
    })
  })

  it('a snapshot taken while two tasks stream is consistent at its head', async () => {
    const runtime = await world().open({ agents: { count } })
    await runtime.run({ thread, agent: 'count', input: 60 })
    await runtime.spawn({ thread, agent: 'count', input: 45 })
    const taking: Promise<Snapshot>[] = []
    let endCount = 0
    for await (const event of runtime.subscribe({ thread })) {
      if (event.seq % 5 === 0) taking.push(runtime.thread(thread))
      if (event.type === 'task.completed') endCount += 1
      if (endCount === 2) break
    }
    const snapshots = await Promise.all([...taking, runtime.thread(thread)])
    const log = await logOf(runtime, thread)
    for (const snapshot of snapshots) expectConsistent(snapshot, log)
    expect(snapshots.some((snapshot) => snapshot.live.length === 2)).toBe(true)
    expect(snapshots.at(-1)?.live).toEqual([])
  })

  it('a snapshot and what follows its head are the whole, at any moment', async () => {
    const runtime = await world().open({ agents: { count } })
    const { id } = await runtime.run({ thread, agent: 'count', input: 30 })
    await eventsUntil(runtime, { thread }, (event) => event.type === 'text.delta')
    const { head, live } = await runtime.thread(thread)
    const rest = await eventsUntil(runtime, { thread, task: id, after: head }, () => false)
    const [soFar] = live[0]?.parts ?? []
    const text = (soFar?.type === 'text' ? soFar.text : '') + textOf(rest, id)
    expect(text).toBe(Array.from({ length: 30 }, (_each, n) => `${n} `).join(''))
    expect((await runtime.messages(thread)).at(-1)?.parts).toEqual([{ type: 'text', text }])
  })

  it('live parts are what a running task has put out: text, reasoning, open calls and its answer', async () => {
    const here = world()
    const never = gate()
    const runtime = await here.open({
      agents: {
        working: async (ctx: AgentContext) => {
          await ctx.think('hm')
          await ctx.say('so ')
          await ctx.answer({ draft: 1 })
          await ctx.tool('slow', { q: 1 }, () => never.opened)
        },
        silent: () => never.opened,
      },
    })
    const { id } = await runtime.run({ thread, agent: 'working', prompt: 'go' })
    await runtime.spawn({ thread, agent: 'silent', prompt: 'go' })
    await eventsUntil(runtime, { thread }, (event) => event.type === 'tool.call')
    const { live } = await runtime.thread(thread)
    expect(live).toEqual([
      {
        task: id,
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'so ' },
          { type: 'tool', id: expect.any(String), name: 'slow', input: { q: 1 } },
          { type: 'data', name: 'answer', value: { draft: 1 } },
        ],
      },
    ])
  })

  it('live parts hold what counts, once, after a crash and the resume', async () => {
    const here = world()
    const { id, agents } = await crashedAfterStep(here)
    const runtime = await here.open({ agents })
    await eventsUntil(runtime, { thread }, (event) => event.type === 'task.resumed')
    await here.quiet()
    expect(await livePartsOf(runtime, id)).toEqual([{ type: 'text', text: 'kept ' }])
  })

  it('live parts of a task that nobody executes are read from the log', async () => {
    const here = world()
    const { id } = await crashedAfterStep(here)
    const runtime = await here.open({ agents: {} })
    await here.quiet()
    expect(await livePartsOf(runtime, id)).toEqual([{ type: 'text', text: 'kept lost ' }])
    expect((await runtime.get(id))?.status).toBe('running')
  })

  it('a snapshot has the last hundred messages and ended tasks, and every live task', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held, quick: () => 'done' } })
    const first = await runtime.spawn({ thread, agent: 'held', prompt: 'first' })
    for (let n = 0; n < 6; n += 1) {
      const runs = Array.from({ length: 20 }, () => runtime.run({ thread, agent: 'quick', prompt: 'go' }))
      const accepted = await Promise.all(runs)
      await runtime.wait(accepted.at(-1)?.id ?? '')
    }
    const { messages, tasks, head } = await runtime.thread(thread)
    const log = await logOf(runtime, thread)
    const said = log.filter((event) => event.type === 'message.created')
    expect(said).toHaveLength(120)
    expect(messages.map((message) => message.seq)).toEqual(said.slice(-100).map((event) => event.seq))
    expect(tasks).toHaveLength(101)
    expect(tasks[0]?.id).toBe(first.id)
    expect(tasks.at(-1)?.seq).toBe(head)
    const page = await runtime.messages(thread, { after: messages[0]?.seq ?? 0, limit: 10 })
    expect(page).toEqual(messages.slice(1, 11))
  })
})

/** Each number in a commit of its own. */
async function count(ctx: AgentContext, upTo: number): Promise<void> {
  for (let n = 0; n < upTo; n += 1) await ctx.step('count', () => ctx.say(`${n} `))
}

/** A run that said something, recorded a step, said more, and was alone with that when the process died. */
async function crashedAfterStep(here: World) {
  const agents = {
    stepping: async (ctx: AgentContext) => {
      await ctx.say('kept ')
      await ctx.step('a', () => 'done')
      if (ctx.attempt === 1) await ctx.say('lost ')
      await new Promise(() => {})
    },
  }
  const runtime = await here.open({ agents })
  const { id } = await runtime.run({ thread, agent: 'stepping', prompt: 'go' })
  const isLost = (event: Event) => event.type === 'text.delta' && event.data.text === 'lost '
  await eventsUntil(runtime, { thread }, isLost)
  await here.crash()
  return { id, agents }
}
