import { describe, expect, it } from 'vitest'
import { type Turn, turns } from '../model-server/script.ts'
import { isEndOf } from '../server/harness/client.ts'
import { serveWithModel, textOf } from './example-server.ts'

const examples = [
  { file: 'fetch-loop.ts', agent: 'assistant' },
  { file: 'openai-agents.ts', agent: 'forecast' },
  { file: 'langgraph.ts', agent: 'forecast' },
]

const call: Turn = { text: 'Let me see. ', calls: [{ name: 'weather', input: { city: 'Oslo' } }] }
const answer: Turn = { text: ['It is ', '11 ', 'degrees.'] }

describe.each(examples)('the example $file', ({ file, agent }) => {
  it('runs, streams and ends, with its tool called in between', async () => {
    const { server, model } = await serveWithModel(file, turns(call, answer))
    const run = await server.run(agent, 'How warm is Oslo?')
    const ended = await server.ended(run.id)
    expect(ended).toMatchObject({ status: 'completed', result: 'It is 11 degrees.' })
    const events = await server.log(run.id)
    expect(textOf(events)).toBe('Let me see. It is 11 degrees.')
    expect(events.filter(({ type }) => type === 'text.delta').length).toBeGreaterThanOrEqual(4)
    expect(events.flatMap((event) => (event.type === 'tool.call' ? event.data : []))).toMatchObject([
      { name: 'weather', input: { city: 'Oslo' } },
    ])
    expect(events.flatMap((event) => (event.type === 'tool.result' ? event.data.output : []))).toEqual([
      { city: 'Oslo', degrees: 11 },
    ])
    expect(model.requests).toHaveLength(2)
    expect(model.requests[1]?.messages.at(-1)).toEqual({ role: 'tool', text: expect.stringContaining('11') })
  })

  it('aborts the request to the model when it is cancelled in the middle of its answer, and keeps what was said', async () => {
    const { server, model } = await serveWithModel(file, turns({ ...answer, holdAfter: 1 }))
    const run = await server.run(agent, 'How warm is Oslo?')
    const watcher = await server.watch(run.id)
    await watcher.until(({ type }) => type === 'text.delta')
    await model.held()
    const left = model.left()
    await server.cancel(run.id)
    await left
    await watcher.until(isEndOf(run.id))
    expect(await server.ended(run.id)).toMatchObject({ status: 'cancelled', partial: true })
    const last = (await server.log(run.id)).at(-1)
    expect(last?.data).not.toHaveProperty('forced')
    expect(model.requests).toHaveLength(1)
  })

  it('pays for no finished call twice after kill -9, and says nothing twice', async () => {
    const { server, model } = await serveWithModel(file, turns(call, { ...answer, holdAfter: 1 }))
    const run = await server.run(agent, 'How warm is Oslo?')
    const watcher = await server.watch(run.id)
    await watcher.until((event) => event.type === 'text.delta' && event.data.text === 'It is ')
    const left = model.left()
    await server.kill9()
    await left
    model.script = turns(call, answer)
    await server.start()
    expect(await server.ended(run.id)).toMatchObject({ status: 'completed', result: 'It is 11 degrees.', attempt: 2 })
    // The first call once; the second, which was cut, again.
    expect(model.requests.map(({ messages }) => messages.some(({ role }) => role === 'tool'))).toEqual([
      false,
      true,
      true,
    ])
    const events = await server.log(run.id)
    expect(textOf(events)).toBe('Let me see. It is 11 degrees.')
    expect(events.filter(({ type }) => type === 'tool.call')).toHaveLength(1)
  })
})

describe('the example fetch-loop.ts', () => {
  it('gives its model the conversation so far', async () => {
    const { server, model } = await serveWithModel('fetch-loop.ts', () => ({ text: 'Cold.' }))
    await server.ended((await server.run('assistant', 'How warm is Oslo?')).id)
    await server.ended((await server.run('assistant', 'And Rome?')).id)
    expect(model.requests[1]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'system: You are brief.',
      'user: How warm is Oslo?',
      'assistant: Cold.',
      'user: And Rome?',
    ])
  })

  it.each([
    [{ status: 500 }, /The model answered 500/],
    [{ text: ['It ', 'is'], cutAfter: 1 }, /terminated|broke off/],
  ] as const)('fails and says why when its model does not answer: %o', async (turn, message) => {
    const { server } = await serveWithModel('fetch-loop.ts', turns(turn))
    const ended = await server.ended((await server.run('assistant', 'How warm is Oslo?')).id)
    expect(ended).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: expect.stringMatching(message) },
    })
  })
})
