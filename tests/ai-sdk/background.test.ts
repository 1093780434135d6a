import { expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import { type BackgroundTasks, backgroundTasks } from '../../src/index.ts'
import { type ModelRequest, stepsSoFar, type Turn } from '../model-server/script.ts'
import { eventsUntil, gate, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

/** Spawns a digger, looks, writes to it, waits for it, and tells what it found. */
function lead(request: ModelRequest): Turn {
  const steps: Turn[] = [
    { calls: [{ name: 'spawn_task', input: { agent: 'digger', prompt: 'dig', name: 'kid', description: 'digs' } }] },
    { calls: [{ name: 'list_tasks', input: {} }] },
    { calls: [{ name: 'send_message', input: { task: 'kid', content: 'deeper' } }] },
    { calls: [{ name: 'wait_task', input: { task: 'kid' } }] },
    { calls: [{ name: 'cancel_task', input: { task: 'kid' } }] },
    { text: 'Found it.' },
  ]
  return steps[stepsSoFar(request)] ?? {}
}

function toolTexts(requests: readonly ModelRequest[]): unknown[] {
  const last = requests.findLast(({ messages }) => messages.some(({ role }) => role === 'tool'))
  return (last?.messages ?? []).flatMap(({ role, text }) => (role === 'tool' ? [JSON.parse(text) as unknown] : []))
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-11 an agent of the SDK works with background tasks, which it is shown before each step', async () => {
    const server = await modelServer(lead)
    const heard: unknown[] = []
    const agents = {
      lead: aiSdkAgent({ model: modelOf(server), instructions: 'Lead.' }, { backgroundTasks: () => plugin }),
      digger: async (ctx: { receive(): Promise<unknown> }) => {
        heard.push(await ctx.receive())
        return 'gold'
      },
    }
    const runtime = await world().open({ agents })
    const plugin: BackgroundTasks = backgroundTasks(runtime)
    const run = await runtime.run({ thread: 't', agent: 'lead', prompt: 'Hi' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Found it.' })
    const [kid] = (await runtime.list({ thread: 't', name: 'kid' })).tasks
    expect(kid).toMatchObject({
      status: 'completed',
      detached: true,
      parent: { task: run.id, call: `${run.id}:spawn_task` },
    })
    expect(heard).toMatchObject([{ payload: { content: 'deeper', from: run.id } }])
    expect(toolTexts(server.requests)).toMatchObject([
      { task: kid?.id, name: 'kid' },
      { tasks: [{ name: 'kid', status: 'running' }] },
      { task: kid?.id, isSent: true },
      { task: kid?.id, status: 'completed', answer: 'gold' },
      { cancelled: 0, status: 'completed' },
    ])
    const shown = server.requests.map(({ messages }) => messages[0]?.text)
    expect(shown[0]).toBe('Lead.')
    expect(shown[1]).toBe(`Lead.\n\nBackground tasks of this conversation:\n${kid?.id} kid [running] digs`)
    expect(shown[5]).toContain(`${kid?.id} kid [completed] digs → gold`)
    expect(plugin.view('t')).toEqual([])
  })

  it('REST-11 a run of another principal is shown, and reaches, nothing of a thread of the same id', async () => {
    const calls = [
      { name: 'list_tasks', input: {} },
      { name: 'wait_task', input: { task: 'secret' } },
      { name: 'cancel_task', input: { task: 'bg_0' } },
      { name: 'send_message', input: { task: 'secret', content: 'hi' } },
    ]
    const server = await modelServer((request) => (stepsSoFar(request) === 0 ? { calls } : { text: 'Nothing.' }))
    const agents = {
      lead: aiSdkAgent({ model: modelOf(server) }, { backgroundTasks: () => plugin }),
      hidden: (ctx: { receive(): Promise<unknown> }) => ctx.receive(),
    }
    const runtime = await world().open({ agents })
    const plugin: BackgroundTasks = backgroundTasks(runtime)
    await runtime.spawn({ thread: 't', agent: 'hidden', name: 'secret', description: 'the owner alone knows' })
    const ann = runtime.as('ann')
    const run = await ann.run({ thread: 't', agent: 'lead', prompt: 'What is going on?' })
    expect(await ann.wait(run.id)).toMatchObject({ status: 'completed', result: 'Nothing.' })
    const notFound = { reason: 'not_found' }
    expect(toolTexts(server.requests)).toMatchObject([{ tasks: [] }, notFound, notFound, notFound])
    expect(JSON.stringify(server.requests)).not.toContain('alone knows')
  })

  it('REST-15 a crash while it waits for a task neither spawns that again nor asks the model again', async () => {
    const server = await modelServer(lead)
    const go = gate()
    const plugins: BackgroundTasks[] = []
    const agents = {
      lead: aiSdkAgent({ model: modelOf(server) }, { backgroundTasks: () => plugins.at(-1) as BackgroundTasks }),
      digger: async (ctx: { receive(): Promise<unknown> }) => {
        await ctx.receive()
        await go.opened
        return 'gold'
      },
    }
    const here = world()
    const first = await here.open({ agents })
    plugins.push(backgroundTasks(first))
    const run = await first.run({ thread: 't', agent: 'lead', prompt: 'Hi' })
    await eventsUntil(first, { thread: 't' }, ({ type, data }) => type === 'tool.call' && data.name === 'wait_task')
    await here.crash()
    const second = await here.open({ agents })
    plugins.push(backgroundTasks(second))
    go.open()
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Found it.', attempt: 2 })
    expect((await second.list({ thread: 't', name: 'kid' })).tasks.length).toBe(1)
    expect(server.requests.map(stepsSoFar)).toEqual([0, 1, 2, 3, 4, 5])
  })
})
