import { jsonSchema, Output, tool } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import type { Agent } from '../../src/index.ts'
import { eventsOf, eventsUntil, onEachStore, type World } from '../scenarios/world.ts'

type Parts = Parameters<typeof simulateReadableStream<MockPart>>[0]['chunks']
type MockPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

const anything = jsonSchema<object>({ type: 'object' })
const usage = {
  inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: undefined },
  outputTokens: { total: 3, text: 1, reasoning: 2 },
}
const finish = (unified: 'stop' | 'tool-calls' = 'stop'): MockPart => ({
  type: 'finish',
  usage,
  finishReason: { unified, raw: undefined },
})

/** A model whose calls give these answers, one after the other; one that is held is never given. */
function mock(...answers: (Parts | 'held')[]): MockLanguageModelV4 {
  let count = 0
  return new MockLanguageModelV4({
    doStream: async () => {
      const chunks = answers[count] ?? []
      count += 1
      if (chunks === 'held') return { stream: new ReadableStream<MockPart>() }
      return { stream: simulateReadableStream<MockPart>({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  })
}

function said(...deltas: string[]): MockPart[] {
  return [
    { type: 'text-start', id: '1' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
    { type: 'text-end', id: '1' },
  ]
}

async function run(here: World, helper: Agent) {
  const runtime = await here.open({ agents: { helper } })
  const { id } = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
  const events = await eventsOf(runtime, 't', id)
  const { messages } = await runtime.thread('t')
  return { runtime, id, events, task: await runtime.get(id), parts: messages.at(-1)?.parts }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('reasoning, files, sources and tools of the provider become events and parts', async () => {
    const model = mock([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1', modelId: 'mock-1', timestamp: new Date(0) },
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm. ' },
      { type: 'reasoning-end', id: '0' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"q":"x"}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 'c1', toolName: 'search', result: { hits: 2 } },
      { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.org/' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      ...said('Look ', 'here.'),
      finish(),
    ])
    const tools = { search: tool({ inputSchema: anything, outputSchema: anything }) }
    const { task, parts, events, id } = await run(world(), aiSdkAgent({ model, tools }))
    expect(task).toMatchObject({
      status: 'completed',
      result: 'Look here.',
      usage: { modelCalls: 1, inputTokens: 5, cachedInputTokens: 0, outputTokens: 3, reasoningTokens: 2 },
    })
    expect(parts).toEqual([
      { type: 'reasoning', text: 'Hm. ' },
      { type: 'tool', id: `${id}:c1`, name: 'search', input: { q: 'x' }, output: { hits: 2 } },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
      { type: 'text', text: 'Look here.' },
    ])
    const custom = events.flatMap((event) => (event.type === 'custom' ? [event.data] : []))
    expect(custom).toMatchObject([
      { name: 'source', payload: { url: 'https://example.org/' } },
      { name: 'finish', payload: { reason: 'stop', model: 'mock-1' } },
    ])
  })

  it('a result that a provider gives with a later answer is that of its call, also if a crash comes between them', async () => {
    const searched = { toolCallId: 'c1', toolName: 'search' }
    const asking: Parts = [
      { type: 'tool-call', ...searched, input: '{"q":"x"}', providerExecuted: true },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'look', input: '{}' },
      finish('tool-calls'),
    ]
    const answering: Parts = [{ type: 'tool-result', ...searched, result: { hits: 2 } }, ...said('Two.'), finish()]
    const tools = {
      search: tool({
        type: 'provider',
        isProviderExecuted: true,
        supportsDeferredResults: true,
        id: 'mock.search',
        args: {},
        inputSchema: anything,
        outputSchema: anything,
      }),
      look: tool({ inputSchema: anything, execute: () => 'seen' }),
    }
    const here = world()
    const first = await here.open({ agents: { helper: aiSdkAgent({ model: mock(asking, 'held'), tools }) } })
    const { id } = await first.run({ thread: 't', agent: 'helper', prompt: 'Hi' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'tool.result')
    await here.crash()
    const second = await here.open({ agents: { helper: aiSdkAgent({ model: mock(answering), tools }) } })
    expect(await second.wait(id)).toMatchObject({ status: 'completed', result: 'Two.', attempt: 2 })
    expect((await second.thread('t')).messages.at(-1)?.parts).toMatchObject([
      { type: 'tool', id: `${id}:c1`, name: 'search', input: { q: 'x' }, output: { hits: 2 } },
      { type: 'tool', name: 'look', output: 'seen' },
      { type: 'text', text: 'Two.' },
    ])
  })

  it('a file that is too large for an event is told of, and a text that is too large is said in pieces', async () => {
    const long = `${'a'.repeat(32 * 1024 - 1)}😀${'b'.repeat(300 * 1024)}`
    const data = { type: 'data', data: 'A'.repeat(400 * 1024) } as const
    const model = mock([...said(long), { type: 'file', mediaType: 'image/png', data }, finish()])
    const { task, events, parts } = await run(world(), aiSdkAgent({ model }))
    expect(task?.status).toBe('completed')
    expect(parts).toEqual([{ type: 'text', text: long }])
    const pieces = events.flatMap((event) => (event.type === 'text.delta' ? [event.data.text] : []))
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    expect(
      events.find(({ type, data }) => type === 'custom' && 'name' in data && data.name === 'file_omitted'),
    ).toBeDefined()
  })

  it('a tool whose result is too large for an event fails, and the model is told so', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'dump', input: '{}' } as const
    const model = mock([call, finish('tool-calls')], [...said('Too much.'), finish()])
    const dump = tool({ inputSchema: anything, execute: () => 'a'.repeat(300 * 1024) })
    const { task, parts } = await run(world(), aiSdkAgent({ model, tools: { dump } }))
    expect(task).toMatchObject({ status: 'completed', result: 'Too much.' })
    const error = expect.stringMatching(/larger than 262144 bytes/) as string
    expect(parts).toMatchObject([{ type: 'tool', name: 'dump', error }, { type: 'text' }])
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toMatch(/larger than 262144 bytes/)
  })

  it('what is too large of calls that nobody executes here, and of sources, is told of, and the run goes on', async () => {
    const large = 'a'.repeat(300 * 1024)
    const input = JSON.stringify({ large })
    const provided = { type: 'tool-call', toolCallId: 'c1', toolName: 'web', input, providerExecuted: true } as const
    const found = { type: 'tool-result', toolCallId: 'c1', toolName: 'web', result: { large } } as const
    const source = { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.org', title: large } as const
    const unknown = { type: 'tool-call', toolCallId: 'c2', toolName: 'nowhere', input } as const
    const model = mock([provided, found, source, unknown, finish('tool-calls')], [...said('Well.'), finish()])
    const { task, parts, events } = await run(world(), aiSdkAgent({ model }))
    expect(task).toMatchObject({ status: 'completed', result: 'Well.' })
    const omitted = expect.stringMatching(/too large/) as string
    expect(parts).toMatchObject([
      { type: 'tool', name: 'web', input: { omitted }, output: { omitted } },
      { type: 'tool', name: 'nowhere', input: { omitted }, error: expect.stringContaining('nowhere') as string },
      { type: 'text', text: 'Well.' },
    ])
    const names = events.flatMap(({ type, data }) => (type === 'custom' && 'name' in data ? [data.name] : []))
    expect(names).toContain('source_omitted')
  })

  it('a structured output is the result, and what a tool gives bit by bit is shown before its last', async () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'count', input: '{}' } as const
    const model = mock([call, finish('tool-calls')], [...said('{"n":', '3}'), finish()])
    const count = tool({
      inputSchema: anything,
      async *execute(): AsyncGenerator<number> {
        yield 1
        yield 2
        yield 3
      },
    })
    const schema = jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } } })
    const agent = aiSdkAgent({ model, tools: { count }, output: Output.object({ schema }) })
    const { task, parts, events } = await run(world(), agent)
    expect(task).toMatchObject({ status: 'completed', result: { n: 3 } })
    expect(parts).toMatchObject([
      { type: 'tool', name: 'count', output: 3 },
      { type: 'text', text: '{"n":3}' },
    ])
    const shown = events.flatMap((event) => (event.type === 'custom' ? [event.data] : []))
    expect(shown.slice(1, 3)).toMatchObject([
      { name: 'tool_preliminary', payload: { output: 1 } },
      { name: 'tool_preliminary', payload: { output: 2 } },
    ])
  })
})
