import { jsonSchema, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, it, vi } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import { turns } from '../model-server/script.ts'
import { eventsUntil, gate, logOf, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const endpoints = ['chat', 'responses'] as const

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it.each(endpoints)(
    'RUN-02 an error of a %s stream after partial output keeps the partial, for the next turn too',
    async (endpoint) => {
      const server = await modelServer(turns({ text: ['Half ', 'an ', 'answer'], errorAfter: 2 }))
      const helper = aiSdkAgent({ model: modelOf(server, endpoint) })
      const runtime = await world().open({ agents: { helper } })
      const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
      const task = await runtime.wait(run.id)
      expect(task).toMatchObject({ status: 'failed', partial: true, error: { code: 'agent_error' } })
      expect(task?.error?.message).toContain('the model broke down')
      const { messages } = await runtime.thread('t')
      expect(messages.at(-1)).toMatchObject({ finish: 'error', parts: [{ type: 'text', text: 'Half an ' }] })
      server.script = turns({ text: 'Whole.' })
      const next = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Go on' })
      expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed', result: 'Whole.' })
      expect(server.requests.at(-1)?.messages).toEqual([
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: 'Half an ' },
        { role: 'user', text: 'Go on' },
      ])
    },
  )

  it('RUN-02 a connection that breaks in the middle of a stream keeps the partial', async () => {
    const server = await modelServer(turns({ text: ['Half ', 'an ', 'answer'], cutAfter: 2 }))
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server) }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed', partial: true })
    const { messages } = await runtime.thread('t')
    expect(messages.at(-1)).toMatchObject({ finish: 'error', parts: [{ type: 'text', text: 'Half an ' }] })
    expect(server.requests.length).toBe(1)
  })

  it('RUN-03 an error before any output, though not before reasoning, adds no assistant message', async () => {
    const server = await modelServer(turns({ reasoning: ['Hm, ', 'well'], text: 'never', errorAfter: 2 }))
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server, 'responses') }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    const task = await runtime.wait(run.id)
    expect(task).toMatchObject({ status: 'failed' })
    expect(task?.partial).toBeUndefined()
    const { messages } = await runtime.thread('t')
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    const thoughts = (await logOf(runtime, 't')).filter(({ type }) => type === 'thinking')
    expect(thoughts.length).toBe(2)
  })

  it.each(endpoints)('RUN-03 a refused %s request fails the run and adds no assistant message', async (endpoint) => {
    const printed = vi.spyOn(console, 'error')
    const server = await modelServer(turns({ status: 400 }))
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server, endpoint) }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    const task = await runtime.wait(run.id)
    expect(task).toMatchObject({ status: 'failed', error: { code: 'agent_error', message: 'refused with 400' } })
    expect((await runtime.thread('t')).messages.map(({ role }) => role)).toEqual(['user'])
    expect(server.requests.length).toBe(1)
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })

  it('a run that says nothing fails without asking the model, and like a message that says nothing it is no turn to the model', async () => {
    const server = await modelServer(turns({ calls: [{ name: 'wait', input: {} }] }, { text: 'Hello.' }))
    const wait = tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: () => sent.opened })
    const sent = gate<string>()
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server), tools: { wait } }) } })
    const empty = await runtime.run({ thread: 't', agent: 'helper', prompt: ' ' })
    const error = { code: 'agent_error', message: expect.stringContaining('nothing to answer') }
    expect(await runtime.wait(empty.id)).toMatchObject({ status: 'failed', error })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'tool.call')
    await runtime.send(run.id, { content: '' })
    sent.open('waited')
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Hello.' })
    expect(server.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'tool'],
    ])
  })

  it('a request that the SDK tries again is said once', async () => {
    const server = await modelServer(({ number }) =>
      number < 3 ? { status: 503, headers: { 'retry-after-ms': '1' } } : { text: ['Here ', 'I am.'] },
    )
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server) }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    expect(await runtime.wait(run.id)).toMatchObject({
      status: 'completed',
      result: 'Here I am.',
      usage: { modelCalls: 1 },
    })
    const said = (await logOf(runtime, 't')).filter(({ type }) => type === 'text.delta')
    expect(said.length).toBe(2)
    expect(server.requests.length).toBe(3)
  })

  it('a stream that broke is not tried again, even if the settings ask for it: its text stands', async () => {
    const server = await modelServer(turns({ text: ['Half ', 'an answer'], errorAfter: 1 }))
    const settings = { model: modelOf(server), streamRetries: 2 }
    const runtime = await world().open({ agents: { helper: aiSdkAgent(settings) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed', partial: true })
    expect(server.requests.length).toBe(1)
  })

  it('a model that ignores the timeout of the SDK fails the run, and what it said is kept', async () => {
    const chunks = [{ type: 'text-start', id: '1' } as const, { type: 'text-delta', id: '1', delta: 'So far' } as const]
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start: (controller) => {
            for (const chunk of chunks) controller.enqueue(chunk)
          },
        }),
      }),
    })
    const here = world()
    const runtime = await here.open({ agents: { helper: aiSdkAgent({ model, timeout: { chunkMs: 5 } }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed', partial: true })
    expect((await runtime.thread('t')).messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'So far' }])
    const record = here.committed.flatMap((unit) => unit.steps ?? []).find(({ key }) => key === 'model')
    expect(JSON.parse(record?.value ?? '')).toMatchObject({ failure: { isBegun: true } })
  })
})
