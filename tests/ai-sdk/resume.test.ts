import { jsonSchema, type ToolLoopAgentSettings, tool } from 'ai'
import { expect, it } from 'vitest'
import { aiSdkAgent, toolCall } from '../../src/ai-sdk/index.ts'
import type { Runtime } from '../../src/index.ts'
import { turns } from '../model-server/script.ts'
import { eventsOf, eventsUntil, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const anything = jsonSchema<{ n?: number }>({ type: 'object' })

async function untilSaid(runtime: Runtime, count: number): Promise<void> {
  let said = 0
  await eventsUntil(runtime, { thread: 't' }, ({ type }) => {
    if (type === 'text.delta') said += 1
    return said === count
  })
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-13 a stream that a crash cut is asked for again, and what was said of it is abandoned', async () => {
    const server = await modelServer(
      turns({ text: 'First. ', calls: [{ name: 'look', input: {} }] }, { text: ['Se', 'cond', '.'], holdAfter: 2 }),
    )
    const look = tool({ inputSchema: anything, execute: () => 'seen' })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { look } }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 3)
    await here.crash()
    server.script = turns({ text: 'never' }, { text: ['Second', ', again.'] })
    const second = await here.open({ agents })
    const events = await eventsOf(second, 't', run.id)
    const resumed = events.find((event) => event.type === 'task.resumed')
    const { keep = 0 } = resumed?.data ?? {}
    const abandoned = events.filter(({ type, seq }) => type === 'text.delta' && seq > keep && seq < (resumed?.seq ?? 0))
    expect(abandoned.map(({ data }) => data)).toEqual([{ text: 'Se' }, { text: 'cond' }])
    expect(await second.get(run.id)).toMatchObject({ status: 'completed', result: 'Second, again.' })
    const { messages } = await second.thread('t')
    expect(messages.at(-1)?.parts).toMatchObject([
      { type: 'text', text: 'First. ' },
      { type: 'tool', name: 'look', output: 'seen' },
      { type: 'text', text: 'Second, again.' },
    ])
    expect(server.requests.length).toBe(3)
  })

  it('a call that failed and was tried again is answered from the record with its retries, without a wait', async () => {
    const server = await modelServer(({ number }) =>
      number === 1
        ? { status: 503, headers: { 'retry-after-ms': '1' } }
        : number === 2
          ? { text: 'One. ', calls: [{ name: 'look', input: {} }] }
          : { text: ['Two'], holdAfter: 1 },
    )
    const look = tool({ inputSchema: anything, execute: () => 'seen' })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { look } }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 2)
    await here.crash()
    server.script = () => ({ text: 'Two.' })
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Two.' })
    expect(server.requests.length).toBe(4)
  })

  it('a hand-over in the middle of a stream is no failure of the model: it is asked again', async () => {
    const server = await modelServer(turns({ text: ['So ', 'far'], holdAfter: 1 }))
    const agents = { helper: aiSdkAgent({ model: modelOf(server) }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 1)
    await first.close({ drainMs: 0 })
    server.script = turns({ text: 'All of it.' })
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'All of it.', attempt: 2 })
    expect((await second.thread('t')).messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'All of it.' }])
  })

  it('a stream that broke before a crash is met again as it broke, and not asked for again', async () => {
    const server = await modelServer(turns({ text: ['So ', 'far'], cutAfter: 1 }))
    const agents = { helper: aiSdkAgent({ model: modelOf(server) }) }
    const here = world()
    // Dies at the commit that would end the task.
    const first = await here.open({ agents }, (units) =>
      units.some((unit) => unit.events?.some(({ type }) => type === 'task.failed')) ? 'crash_before' : 'none',
    )
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await here.store.crashed
    await here.crash()
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'failed', partial: true, attempt: 2 })
    expect((await second.thread('t')).messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'So ' }])
    expect(server.requests.length).toBe(1)
  })

  it('a recorded model call answers only for the prompt it was given: changed instructions are a replay_mismatch', async () => {
    const server = await modelServer(
      turns({ text: 'First. ', calls: [{ name: 'look', input: {} }] }, { text: 'Second.', holdAfter: 1 }),
    )
    const look = tool({ inputSchema: anything, execute: () => 'seen' })
    const agents = (instructions: string, version: string) => ({
      helper: aiSdkAgent({ model: modelOf(server), tools: { look }, instructions }, { version }),
    })
    const here = world()
    const first = await here.open({ agents: agents('Be brief.', '1') })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 2)
    await here.crash()
    const second = await here.open({ agents: agents('Be long.', '2') })
    const task = await second.wait(run.id)
    expect(task).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } })
    expect(task?.error?.message).toMatch(/"model".*another input.*version 1 of the agent, this is version 2/)
    expect(server.requests.length).toBe(2)
  })

  it('a call that was repaired is met again as it was repaired, and nobody repairs it again', async () => {
    const server = await modelServer(
      turns({ text: 'One. ', calls: [{ name: 'lok', input: {} }] }, { text: 'Two.', holdAfter: 1 }),
    )
    let repairCount = 0
    const repairToolCall: ToolLoopAgentSettings['repairToolCall'] = ({ toolCall: call }) => {
      repairCount += 1
      return Promise.resolve({ ...call, toolName: 'look', input: JSON.stringify({ n: repairCount }) })
    }
    const look = tool({ inputSchema: anything, execute: ({ n }) => `seen ${n}` })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { look }, repairToolCall }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 2)
    await here.crash()
    server.script = () => ({ text: 'Two.' })
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Two.' })
    expect(repairCount).toBe(1)
    expect((await second.thread('t')).messages.at(-1)?.parts).toMatchObject([
      { type: 'text', text: 'One. ' },
      { type: 'tool', name: 'look', input: { n: 1 }, output: 'seen 1' },
      { type: 'text', text: 'Two.' },
    ])
  })

  it('a tool is handed a key that stays, and one that failed is met again as it failed', async () => {
    const keys: unknown[] = []
    const server = await modelServer(
      turns(
        { calls: [{ name: 'bad', input: {} }] },
        { calls: [{ name: 'good', input: { n: 1 } }] },
        { text: 'Done.', holdAfter: 1 },
      ),
    )
    const tools = {
      bad: tool({ inputSchema: anything, execute: (): Promise<string> => Promise.reject({ odd: true }) }),
      good: tool({
        inputSchema: anything,
        execute: () => {
          keys.push(toolCall()?.key)
          return undefined
        },
      }),
    }
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await untilSaid(first, 1)
    await here.crash()
    server.script = () => ({ text: 'Done.' })
    const second = await here.open({ agents })
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(keys).toEqual([`${run.id}:good`])
    expect(toolCall()).toBeUndefined()
    expect(server.requests.length).toBe(4)
    expect(server.requests[3]?.messages).toEqual(server.requests[2]?.messages)
  })
})
