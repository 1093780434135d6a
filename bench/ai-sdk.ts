// What does the AI SDK adapter cost? Run with `node bench/ai-sdk.ts`.
//
// A mock model streams 5,000 chunks of text, and in another run calls a tool in each of 50 steps. The baseline is the SDK's own
// ToolLoopAgent with the same model, its stream read to the end; ours is a run of the same agent on Holdfast until it has
// ended, with every chunk an event and every call a step. Then a run is steered while its tool is at work:
// milliseconds from the request to the model call that has the message. Not measured: a network, a real model.

import { jsonSchema, ToolLoopAgent, tool } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { aiSdkAgent } from '../src/ai-sdk/index.ts'
import { createRuntime, type Runtime } from '../src/index.ts'
import { perSecond, report } from './figures.ts'
import { compare, median, timed } from './rounds.ts'
import { withPath } from './sqlite-load.ts'

type Answer = Awaited<ReturnType<MockLanguageModelV4['doStream']>>
type Chunk = Answer['stream'] extends ReadableStream<infer Part> ? Part : never

const chunkCount = 5_000
const stepCount = 50
const roundCount = 7
const steerCount = 100

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function finished(reason: 'stop' | 'tool-calls'): Chunk {
  return { type: 'finish', finishReason: { unified: reason, raw: reason }, usage }
}

function answer(chunks: readonly Chunk[]): Answer {
  return { stream: simulateReadableStream({ chunks: [...chunks], initialDelayInMs: null, chunkDelayInMs: null }) }
}

const text: readonly Chunk[] = [
  { type: 'text-start', id: '0' },
  ...Array.from({ length: chunkCount }, (): Chunk => ({ type: 'text-delta', id: '0', delta: 'some words of it ' })),
  { type: 'text-end', id: '0' },
  finished('stop'),
]

function call(n: number): readonly Chunk[] {
  return [{ type: 'tool-call', toolCallId: `call-${n}`, toolName: 'look', input: '{}' }, finished('tool-calls')]
}

/** An agent whose model talks. */
function talker(): ToolLoopAgent {
  return new ToolLoopAgent({ model: new MockLanguageModelV4({ doStream: async () => answer(text) }) })
}

/** An agent whose model calls a tool in all of its steps but the last. */
function looker() {
  const look = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => 'seen' })
  const doStream: MockLanguageModelV4['doStream'] = async ({ prompt }) => {
    const done = prompt.filter(({ role }) => role === 'tool').length
    return answer(done < stepCount ? call(done) : [finished('stop')])
  }
  return new ToolLoopAgent({ model: new MockLanguageModelV4({ doStream }), tools: { look }, stopWhen: () => false })
}

async function bare(agent: ToolLoopAgent<never, never>): Promise<number> {
  return timed(async () => {
    const { stream } = await agent.stream({ prompt: 'go' })
    for await (const _part of stream);
  })
}

let threadCount = 0

async function ours(runtime: Runtime, agent: string): Promise<number> {
  return timed(async () => {
    const { id } = await runtime.run({ thread: `thread-${threadCount++}`, agent, prompt: 'go' })
    const ended = await runtime.wait(id)
    if (ended?.status !== 'completed') throw new Error(`${id} is ${ended?.status}: ${ended?.error?.message}`)
  })
}

async function withRuntime(store: string, work: (runtime: Runtime) => Promise<void>): Promise<void> {
  const runtime = createRuntime({ store, agents: { talker: aiSdkAgent(talker()), looker: aiSdkAgent(looker()) } })
  await work(runtime)
  await runtime.close()
}

async function costs(store: string, what: string, atLeast: number): Promise<void> {
  await withRuntime(store, async (runtime) => {
    const chunks = await compare(
      roundCount,
      () => bare(talker() as never),
      () => ours(runtime, 'talker'),
    )
    report({
      what: `chunks of a model stream, ${what}`,
      value: chunks.ratio,
      unit: '×',
      atLeast,
      of: `${perSecond(chunkCount, chunks.oursMs)} against ${perSecond(chunkCount, chunks.baselineMs)} of the bare SDK`,
    })
    const steps = await compare(
      roundCount,
      () => bare(looker() as never),
      () => ours(runtime, 'looker'),
    )
    report({
      what: `what a model call and a tool call add, ${what}`,
      value: (steps.oursMs - steps.baselineMs) / stepCount,
      unit: ' ms',
      atMost: 10,
      of: `${(steps.oursMs / stepCount).toFixed(2)} against ${(steps.baselineMs / stepCount).toFixed(2)} ms of the bare SDK`,
    })
  })
}

/** Its tool is at work until it is told to stop; its model says when it was asked with how many user messages. */
async function steers(store: string): Promise<void> {
  let release = () => {}
  let onAsked: (userCount: number, at: number) => void = () => {}
  const begun: (() => void)[] = []
  const look = tool({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: () =>
      new Promise<string>((resolve) => {
        release = () => resolve('seen')
        begun.shift()?.()
      }),
  })
  const doStream: MockLanguageModelV4['doStream'] = async ({ prompt }) => {
    onAsked(prompt.filter(({ role }) => role === 'user').length, performance.now())
    const done = prompt.filter(({ role }) => role === 'tool').length
    return answer(done < steerCount ? call(done) : [finished('stop')])
  }
  const model = new MockLanguageModelV4({ doStream })
  const agent = new ToolLoopAgent({ model, tools: { look }, stopWhen: () => false })
  const runtime = createRuntime({ store, agents: { agent: aiSdkAgent(agent) } })
  let isBegun = new Promise<void>((resolve) => begun.push(resolve))
  const { id } = await runtime.run({ thread: 't', agent: 'agent', prompt: 'go' })
  const took: number[] = []
  for (let n = 0; n < steerCount; n++) {
    await isBegun
    isBegun = new Promise<void>((resolve) => begun.push(resolve))
    const read = new Promise<number>((resolve) => {
      onAsked = (userCount, at) => userCount === n + 2 && resolve(at)
    })
    const startedAt = performance.now()
    await runtime.run({ thread: 't', agent: 'agent', prompt: `${n}`, onBusy: 'steer' })
    release()
    took.push((await read) - startedAt)
  }
  await runtime.wait(id)
  await runtime.close()
  const of = `p50 of ${steerCount}, longest ${Math.max(...took).toFixed(1)} ms`
  report({ what: 'steer to read by the next model call', value: median(took), unit: ' ms', atMost: 5, of })
}

await costs('memory:', 'memory', 0.6)
await withPath((path) => costs(`sqlite:${path}`, 'SQLite', 0.4))
await withPath((path) => steers(`sqlite:${path}`))
