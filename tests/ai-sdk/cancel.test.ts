import { jsonSchema, type ToolSet, tool } from 'ai'
import { expect, it } from 'vitest'
import { aiSdkAgent, toolCall } from '../../src/ai-sdk/index.ts'
import type { AgentContext, Agents, Message, Runtime } from '../../src/index.ts'
import type { ModelServer } from '../model-server/model-server.ts'
import { type Turn, turns } from '../model-server/script.ts'
import { forever } from '../scenarios/attempts.ts'
import { eventsUntil, gate, onEachStore, type World } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const anything = jsonSchema<object>({ type: 'object' })
const calling = (name: string): Turn => ({ text: 'Let me see. ', calls: [{ name, input: { a: 1 } }] })

interface Stage {
  readonly here: World
  readonly server: ModelServer
  readonly runtime: Runtime
  readonly run: string
}

async function stage(here: World, turn: Turn, tools: ToolSet, agents: Agents = {}): Promise<Stage> {
  const server = await modelServer(turns(turn))
  const helper = aiSdkAgent({ model: modelOf(server), tools })
  const runtime = await here.open({ agents: { helper, ...agents } })
  const { id } = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
  return { here, server, runtime, run: id }
}

/** Cancels the thread, and shows that its conversation is whole: the next turn gets all of it. */
async function cancelAndGoOn({ server, runtime, run }: Stage): Promise<readonly Message['parts'][number][]> {
  await runtime.cancelThread('t')
  const task = await runtime.wait(run)
  expect(task).toMatchObject({ status: 'cancelled', partial: true })
  const { messages } = await runtime.thread('t')
  const last = messages.at(-1)
  expect(last).toMatchObject({ role: 'assistant', finish: 'cancelled' })
  for (const part of last?.parts ?? []) {
    if (part.type === 'tool') expect(part.output ?? part.error, 'the call is closed').toBeDefined()
  }
  server.script = () => ({ text: 'Here we go.' })
  const next = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Go on' })
  expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed', result: 'Here we go.' })
  return last?.parts ?? []
}

function untilType(runtime: Runtime, type: string): Promise<unknown> {
  return eventsUntil(runtime, { thread: 't' }, (event) => event.type === type)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-20 a cancel in the middle of a model stream reaches the provider, and what was said is kept', async () => {
    const at = await stage(world(), { text: ['One ', 'two ', 'three'], holdAfter: 2 }, {})
    await eventsUntil(at.runtime, { thread: 't' }, ({ type, data }) => type === 'text.delta' && data.text === 'two ')
    const left = at.server.left()
    expect(await cancelAndGoOn(at)).toEqual([{ type: 'text', text: 'One two ' }])
    await left
    expect(at.server.requests.at(-1)?.messages).toEqual([
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'One two ' },
      { role: 'user', text: 'Go on' },
    ])
  })

  it('a cancel in the middle of a tool call aborts the tool, and closes its call', async () => {
    const aborted: string[] = []
    const slow = tool({
      inputSchema: anything,
      execute: (_input, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => {
            aborted.push('slow')
            reject(new Error('was told to stop'))
          })
        }),
    })
    const at = await stage(world(), calling('slow'), { slow })
    await untilType(at.runtime, 'tool.call')
    const parts = await cancelAndGoOn(at)
    expect(parts).toMatchObject([{ type: 'text' }, { type: 'tool', name: 'slow', error: 'was told to stop' }])
    expect(aborted).toEqual(['slow'])
    expect(at.server.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  })

  it('CANC-20 a tool that ignores its cancel is left after the grace time, and its run is closed as forced', async () => {
    const stubborn = tool({ inputSchema: anything, execute: (): Promise<string> => forever() })
    const at = await stage(world(), calling('stubborn'), { stubborn })
    await untilType(at.runtime, 'tool.call')
    await at.runtime.cancelThread('t')
    await at.here.quiet()
    expect(await at.runtime.get(at.run)).toMatchObject({ status: 'running' })
    await at.here.clock.advance(5000)
    const parts = await cancelAndGoOn(at)
    expect(parts).toMatchObject([{ type: 'text' }, { type: 'tool', name: 'stubborn', error: expect.anything() }])
  })

  it('a cancel in the middle of a question closes it', async () => {
    const guarded = tool({ inputSchema: anything, needsApproval: true, execute: () => 'never' })
    const at = await stage(world(), calling('guarded'), { guarded })
    await untilType(at.runtime, 'question.asked')
    const parts = await cancelAndGoOn(at)
    expect(parts).toEqual([{ type: 'text', text: 'Let me see. ' }])
    expect(await at.runtime.questions({ thread: 't' })).toEqual([])
  })

  it('a cancel in the middle of a wait for a child cancels the child, and closes the call', async () => {
    const begun = gate()
    const child = async (ctx: AgentContext) => {
      begun.open()
      await ctx.receive()
    }
    const ask = tool({
      inputSchema: anything,
      execute: async () => {
        const { ctx } = toolCall() ?? {}
        const task = await ctx?.spawn({ agent: 'child', name: 'kid' })
        return ctx?.wait(task?.id ?? '')
      },
    })
    const at = await stage(world(), calling('ask'), { ask }, { child })
    await begun.opened
    const parts = await cancelAndGoOn(at)
    expect(parts).toMatchObject([{ type: 'text' }, { type: 'tool', name: 'ask', error: expect.anything() }])
    const { tasks } = await at.runtime.list({ thread: 't', name: 'kid' })
    expect(tasks).toMatchObject([{ status: 'cancelled', parent: { task: at.run } }])
  })

  it('a turn that was cancelled before it started is shown, and left out of what the model is given', async () => {
    const at = await stage(world(), { text: ['One ', 'two'], holdAfter: 1 }, {})
    await untilType(at.runtime, 'text.delta')
    const waiting = await at.runtime.run({ thread: 't', agent: 'helper', prompt: 'Never mind' })
    await at.runtime.cancel(waiting.id)
    await cancelAndGoOn(at)
    const { messages } = await at.runtime.thread('t')
    const shown = messages.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    expect(shown).toContain('Never mind')
    expect(at.server.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(['Hi', 'One ', 'Go on'])
  })

  it('a turn that was cancelled after it started, and before it said anything, stays in what the model is given', async () => {
    const at = await stage(world(), { text: ['One'], holdAfter: 0 }, {})
    await at.server.held()
    await at.runtime.cancelThread('t')
    await at.runtime.wait(at.run)
    at.server.script = () => ({ text: 'Here we go.' })
    const next = await at.runtime.run({ thread: 't', agent: 'helper', prompt: 'Go on' })
    await at.runtime.wait(next.id)
    expect(at.server.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(['Hi', 'Go on'])
  })
})
