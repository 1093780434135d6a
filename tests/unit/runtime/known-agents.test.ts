import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type AgentContext,
  agent,
  createRuntime,
  echoAgent,
  type Part,
  type RunOptions,
  type Runtime,
  type SpawnOptions,
  type Task,
} from '../../../src/index.ts'

const agents = {
  research: async (_ctx: AgentContext, input: { readonly topic: string }) => ({ count: input.topic.length }),
  write: agent({ input: z.string(), run: async (_ctx, text) => text.length }),
  look: (_ctx: AgentContext, parts: readonly Part[]) => parts.length,
  echo: echoAgent(),
  tick: async () => 'done',
}

/** Takes code whose types are looked at and which is never called. */
function onlyTyped(_code: () => Promise<void>): void {}

declare const runtime: Runtime<typeof agents>
declare const ctx: AgentContext

describe('a runtime that knows its agents', () => {
  it('is what createRuntime makes of them, for every principal', () => {
    onlyTyped(async () => {
      expectTypeOf(createRuntime({ store: 'memory:', agents })).toEqualTypeOf<Runtime<typeof agents>>()
      expectTypeOf(runtime.as('somebody')).toEqualTypeOf<Runtime<typeof agents>>()
      expectTypeOf(runtime).toExtend<Runtime>()
    })
  })

  it('runs them by their names and with what they take, and no others', () => {
    onlyTyped(async () => {
      await runtime.run({ thread: 't', agent: 'research', input: { topic: 'x' } })
      await runtime.run({ thread: 't', agent: 'write', prompt: 'x', onBusy: 'steer' })
      await runtime.run({ thread: 't', agent: 'look', parts: [{ type: 'text', text: 'x' }] })
      await runtime.run({ thread: 't', agent: 'echo', input: { any: 'thing' } })
      // @ts-expect-error there is no such agent
      await runtime.run({ thread: 't', agent: 'reserch', input: { topic: 'x' } })
      // @ts-expect-error the input is of another shape
      await runtime.run({ thread: 't', agent: 'write', input: { topic: 'x' } })
      // @ts-expect-error it takes no text
      await runtime.run({ thread: 't', agent: 'research', prompt: 'x' })
      // @ts-expect-error one of prompt, parts and input is needed
      await runtime.run({ thread: 't', agent: 'echo' })
      // @ts-expect-error and only one
      await runtime.run({ thread: 't', agent: 'echo', prompt: 'x', input: 'x' })
      // @ts-expect-error another principal is asked for the same
      await runtime.as('somebody').run({ thread: 't', agent: 'reserch', prompt: 'x' })
    })
  })

  it('spawns them likewise, with nothing if they need nothing, or a function', () => {
    onlyTyped(async () => {
      await runtime.spawn({ thread: 't', agent: 'research', input: { topic: 'x' }, name: 'n' })
      await runtime.spawn({ agent: 'tick' })
      await runtime.spawn({ thread: 't', run: () => 1, input: { any: 'thing' } })
      // @ts-expect-error there is no such agent
      await runtime.spawn({ thread: 't', agent: 'reserch', input: { topic: 'x' } })
      // @ts-expect-error it needs an input
      await runtime.spawn({ thread: 't', agent: 'research' })
      // @ts-expect-error it takes no text
      await runtime.spawn({ thread: 't', agent: 'research', prompt: 'x' })
      // @ts-expect-error an agent or a function is needed
      await runtime.spawn({ thread: 't' })
      // @ts-expect-error and only one
      await runtime.spawn({ thread: 't', agent: 'tick', run: () => 1 })
    })
  })

  it('gives their results, which the id of a task carries along to wait', () => {
    onlyTyped(async () => {
      const run = await runtime.run({ thread: 't', agent: 'research', input: { topic: 'x' } })
      expectTypeOf(run.result).toEqualTypeOf<{ count: number } | undefined>()
      const ended = await runtime.wait(run.id)
      expectTypeOf(ended?.result).toEqualTypeOf<{ count: number } | undefined>()
      const ticked = await runtime.spawn({ thread: 't', agent: 'tick' })
      expectTypeOf((await runtime.wait(ticked.id))?.result).toEqualTypeOf<string | undefined>()
      const called = await runtime.spawn({ thread: 't', run: () => 1 })
      expectTypeOf((await runtime.wait(called.id))?.result).toEqualTypeOf<unknown>()
      expectTypeOf((await runtime.wait('bg_1'))?.result).toEqualTypeOf<unknown>()
    })
  })
})

describe('a runtime that does not know its agents', () => {
  it('takes every name and input, also put together elsewhere', () => {
    onlyTyped(async () => {
      const any: Runtime = createRuntime({ store: 'memory:' })
      const [run, spawn] = [{} as RunOptions, {} as SpawnOptions]
      expectTypeOf(await any.run(run)).toExtend<Task>()
      expectTypeOf(await any.spawn(spawn)).toExtend<Task>()
      await createRuntime().run({ ...run, agent: 'whatever' })
      const named: Record<string, () => number> = {}
      await createRuntime({ agents: named }).run({ thread: 't', agent: 'whatever', prompt: 'x' })
    })
  })

  it('may be used by the agents that it is given, if its type is stated', () => {
    onlyTyped(async () => {
      const own: Runtime = createRuntime({ agents: { lead: async () => (await own.spawn({ agent: 'lead' })).id } })
      await own.close()
    })
  })
})

describe('a subscription', () => {
  it('is for types of events that there are', () => {
    onlyTyped(async () => {
      for await (const { type } of runtime.subscribe({ thread: 't', types: ['text.delta', 'custom'] })) void type
      // @ts-expect-error there is no such type
      runtime.subscribe({ thread: 't', types: ['tex.delta'] })
    })
  })
})

describe('a question', () => {
  it('with options is answered with one of them, and otherwise with anything', () => {
    onlyTyped(async () => {
      const { answer } = await ctx.ask({ text: 'Go on?', options: ['yes', 'no'], default: 'no' })
      expectTypeOf(answer).toEqualTypeOf<'yes' | 'no'>()
      const names: readonly string[] = []
      expectTypeOf((await ctx.ask({ text: 'Who?', options: names })).answer).toEqualTypeOf<string>()
      expectTypeOf((await ctx.ask({ text: 'How much?' })).answer).toEqualTypeOf<unknown>()
      const maybe: { text: string; options?: readonly string[] } = { text: 'Which?' }
      expectTypeOf((await ctx.ask(maybe)).answer).toEqualTypeOf<unknown>()
      // @ts-expect-error there is no such option of a question
      await ctx.ask({ text: 'Go on?', options: ['yes', 'no'], timeout: 5 })
    })
  })
})
