import { jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import { aiSdkAgent, toolCall } from '../../src/ai-sdk/index.ts'
import { type AgentContext, createInbox, type Runtime, type Task } from '../../src/index.ts'
import { lastUserText, stepsSoFar, turns } from '../model-server/script.ts'
import { untilStopped } from '../scenarios/bodies.ts'
import { eventsUntil, gate, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const anything = jsonSchema<object>({ type: 'object' })
const calling = { text: 'Wait. ', calls: [{ name: 'wait', input: {} }] }

function untilType(runtime: Runtime, type: string): Promise<unknown> {
  return eventsUntil(runtime, { thread: 't' }, (event) => event.type === type)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('steering enters the next step of the model, and once read it is not read again after a crash', async () => {
    const server = await modelServer(turns(calling, { text: ['In ', 'French.'], holdAfter: 1 }))
    const go = gate()
    const wait = tool({ inputSchema: anything, execute: () => go.opened.then(() => 'waited') })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { wait } }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilType(first, 'tool.call')
    const steered = await first.run({ thread: 't', agent: 'helper', prompt: 'In French, please', onBusy: 'steer' })
    expect(steered.id).toBe(run.id)
    await first.send(run.id, { content: 'and short', from: 'ann' })
    go.open()
    await eventsUntil(first, { thread: 't' }, ({ type, data }) => type === 'text.delta' && data.text === 'In ')
    await here.crash()
    server.script = () => ({ text: 'In French.' })
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'In French.' })
    const asked = server.requests.map(({ messages }) => messages.map(({ role, text }) => `${role} ${text}`))
    const conversation = [
      'user Hi',
      'assistant Wait. ',
      'tool waited',
      'user In French, please',
      'user Message from ann: and short',
    ]
    expect(asked).toEqual([['user Hi'], conversation, conversation])
    const { messages } = await second.thread('t')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant'])
  })

  it('steering reaches the model though a hook of the agent leaves the messages as they are', async () => {
    const server = await modelServer(turns(calling, { text: 'Yes.' }))
    const go = gate<string>()
    const wait = tool({ inputSchema: anything, execute: () => go.opened })
    const settings = { model: modelOf(server), tools: { wait }, prepareStep: () => ({ messages: undefined }) }
    const runtime = await world().open({ agents: { helper: aiSdkAgent(settings as never) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilType(runtime, 'tool.call')
    await runtime.run({ thread: 't', agent: 'helper', prompt: 'Are you there?', onBusy: 'steer' })
    go.open('waited')
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Yes.' })
    expect(server.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: 'user', text: 'Are you there?' })
  })

  it('LINE-02 LINE-05 a spawn inside a tool inherits run, call and agent, and the tool knows its task', async () => {
    const server = await modelServer(turns({ calls: [{ name: 'work', input: {} }] }, { text: 'Done.' }))
    const spawned = gate<{ child: Task; key: string | undefined; task: string | undefined }>()
    const work = tool({
      inputSchema: anything,
      execute: async () => {
        const child = await runtime.spawn({ thread: 't', run: untilStopped, detached: true })
        spawned.open({ child, key: toolCall()?.key, task: toolCall()?.ctx.taskId })
        return child.id
      },
    })
    const runtime: Runtime = await world().open({
      agents: { helper: aiSdkAgent({ model: modelOf(server), tools: { work } }) },
    })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    const { child, key, task } = await spawned.opened
    expect(task).toBe(run.id)
    expect((await runtime.get(child.id))?.parent).toEqual({ task: run.id, run: run.id, call: key, agent: 'helper' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed' })
  })

  it('LINE-03 an agent spawned by an agent has it as parent, and a cancel of the tree reaches both model streams', async () => {
    const server = await modelServer((request) =>
      lastUserText(request) === 'dig'
        ? { text: ['Digging ', '…'], holdAfter: 1 }
        : { calls: [{ name: 'work', input: {} }] },
    )
    const work = tool({
      inputSchema: anything,
      execute: async () => {
        const { ctx } = toolCall() ?? {}
        const child = await ctx?.spawn({ agent: 'digger', prompt: 'dig', name: 'kid' })
        return ctx?.wait(child?.id ?? '')
      },
    })
    const agents = {
      lead: aiSdkAgent({ model: modelOf(server), tools: { work } }),
      digger: aiSdkAgent({ model: modelOf(server) }),
    }
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'lead', prompt: 'Hi' })
    await untilType(runtime, 'text.delta')
    const { tasks } = await runtime.list({ thread: 't', name: 'kid' })
    expect(tasks).toMatchObject([{ parent: { task: run.id, run: run.id } }])
    const left = server.left()
    expect(await runtime.cancelTree(run.id)).toBe(2)
    await left
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled' })
    expect(await runtime.wait(tasks[0]?.id ?? '')).toMatchObject({ status: 'cancelled', partial: true })
  })

  it('INBX-17 an agent is told in its next step how the tasks it spawned have ended; its owner sees it complete', async () => {
    const server = await modelServer((request) =>
      stepsSoFar(request) === 0 ? { calls: [{ name: 'work', input: {} }] } : { text: 'I see.' },
    )
    const outer = createInbox()
    const work = tool({
      inputSchema: anything,
      execute: async () => {
        const { ctx } = toolCall() ?? {}
        const good = await ctx?.spawn({ run: () => ({ found: 7 }), name: 'good' })
        const bad = await ctx?.spawn({ run: () => Promise.reject(new Error('lost')), name: 'bad' })
        await runtime.wait(good?.id ?? '')
        await runtime.wait(bad?.id ?? '')
        return 'both have ended'
      },
    })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { work } }) }
    const runtime: Runtime = await world().open({ agents })
    const task = await runtime.spawn({ thread: 't', agent: 'helper', prompt: 'Hi', inbox: outer })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: 'I see.' })
    const told = server.requests
      .at(-1)
      ?.messages.filter(({ role }) => role === 'user')
      .map(({ text }) => text)
    expect(told).toEqual([
      'Hi',
      expect.stringMatching(/^The background task bg_\d has completed: {"found":7}$/),
      expect.stringMatching(/^The background task bg_\d has failed: lost$/),
    ])
    expect(outer.drain().at(-1)).toEqual({ kind: 'completed', taskId: task.id, result: 'I see.' })
  })

  it('INBX-18 events of a nested agent flow to its parent up to the terminal one', async () => {
    const server = await modelServer(turns({ text: 'Deep.' }))
    const agents = { deep: aiSdkAgent({ model: modelOf(server) }) }
    const runtime = await world().open({ agents })
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx: AgentContext) => {
        const own = createInbox()
        const { id } = await ctx.spawn({ agent: 'deep', prompt: 'Hi', inbox: own })
        await ctx.wait(id)
        return own.drain().map((item) => (item.kind === 'custom' ? item.eventType : item.kind))
      },
    })
    expect((await runtime.wait(task.id))?.result).toEqual(['finish', 'completed'])
  })
})
