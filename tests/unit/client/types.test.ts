import { describe, expectTypeOf, it } from 'vitest'
import type { WebSocket as WsSocket } from 'ws'
import {
  type Client,
  createClient,
  type EndedTask,
  type Part,
  type SocketConstructor,
} from '../../../src/client/index.ts'
import { type AgentContext, cancelled, echoAgent, scriptAgent } from '../../../src/index.ts'

interface Finding {
  readonly url: string
}

const agents = {
  research: async (
    ctx: AgentContext<{ found: Finding; gave_up: { readonly reason: string } }>,
    input: { readonly topic: string },
  ) => {
    await ctx.emit('found', { url: input.topic })
    return { count: 3 }
  },
  write: {
    version: '1',
    // biome-ignore lint/correctness/useYield: what counts here is what it returns
    async *run(_ctx: AgentContext<{ drafted: number }>, prompt: string): AsyncGenerator<string, number> {
      return prompt.length
    },
  },
  stop: (_ctx: AgentContext<{ drafted: number }>, _input: readonly Part[]) => cancelled(),
}

/** Takes code whose types are looked at and which is never called. */
function onlyTyped(_code: () => Promise<void>): void {}

declare const client: Client<typeof agents>
const thread = () => client.thread('t')

describe('a client that knows its agents', () => {
  it('takes their names and inputs, and no others', () => {
    onlyTyped(async () => {
      await client.run('t', { agent: 'research', input: { topic: 'x' } })
      await client.run('t', { agent: 'write', prompt: 'x' })
      await client.spawn('t', { agent: 'write', input: 'x', name: 'n', detached: true })
      await client.run('t', { agent: 'stop', parts: [{ type: 'text', text: 'x' }] })
      // @ts-expect-error there is no such agent
      await client.run('t', { agent: 'reserch', input: { topic: 'x' } })
      // @ts-expect-error the input is of another shape
      await client.run('t', { agent: 'research', input: { topic: 7 } })
      // @ts-expect-error it takes no text
      await client.run('t', { agent: 'research', prompt: 'x' })
      // @ts-expect-error one of prompt, parts and input is needed
      await client.run('t', { agent: 'write' })
      // @ts-expect-error and only one
      await client.run('t', { agent: 'write', prompt: 'x', input: 'x' })
      // @ts-expect-error a thread takes the same
      await thread().run({ agent: 'research', prompt: 'x' })
    })
  })

  it('gives their results, which a task carries along to wait', () => {
    onlyTyped(async () => {
      const task = await client.run('t', { agent: 'research', input: { topic: 'x' } })
      expectTypeOf(task.result).toEqualTypeOf<{ count: number } | undefined>()
      expectTypeOf(await client.wait(task)).toEqualTypeOf<EndedTask<{ count: number }>>()
      const written = await thread().run({ agent: 'write', prompt: 'x' })
      expectTypeOf((await client.wait(written)).result).toEqualTypeOf<number | undefined>()
      const stopped = await client.run('t', { agent: 'stop', parts: [] })
      expectTypeOf(stopped.result).toEqualTypeOf<unknown>()
      expectTypeOf((await client.wait('bg_1')).result).toEqualTypeOf<unknown>()
    })
  })

  it('gives their custom events by name', () => {
    onlyTyped(async () => {
      for await (const item of thread().attach()) {
        if (item.type !== 'custom') continue
        expectTypeOf(item.data.name).toEqualTypeOf<'found' | 'gave_up' | 'drafted'>()
        if (item.data.name === 'found') expectTypeOf(item.data.payload).toEqualTypeOf<Finding | undefined>()
        if (item.data.name === 'drafted') expectTypeOf(item.data.payload).toEqualTypeOf<number | undefined>()
      }
      for await (const item of client.firehose()) {
        if (item.type === 'custom') expectTypeOf(item.data.name).toEqualTypeOf<'found' | 'gave_up' | 'drafted'>()
      }
    })
  })

  it('tells apart what an attachment gives by its type', () => {
    onlyTyped(async () => {
      for await (const item of thread().attach()) {
        if (item.type === 'snapshot') expectTypeOf(item.head).toEqualTypeOf<number>()
        if (item.type === 'notice') expectTypeOf(item.code).toEqualTypeOf<'offset_ahead' | 'offset_gone'>()
        if (item.type === 'text.delta') expectTypeOf(item.data.text).toEqualTypeOf<string>()
        if (item.type === 'question.answered') expectTypeOf(item.data.by).toEqualTypeOf<string>()
      }
    })
  })
})

describe('a client that does not know its agents, or not what they take', () => {
  it('takes every name and input', () => {
    onlyTyped(async () => {
      const any = createClient({ url: '' })
      const task = await any.run('t', { agent: 'whatever', input: { some: 'thing' } })
      expectTypeOf(task.result).toEqualTypeOf<unknown>()
      await any.run('t', { agent: 'whatever', prompt: 'x' })
      for await (const item of any.thread('t').attach()) {
        if (item.type === 'custom')
          expectTypeOf(item.data).toEqualTypeOf<{ readonly name: string; readonly payload?: unknown }>()
      }
      const built = { echo: echoAgent(), script: scriptAgent() }
      const known = createClient<typeof built>({ url: '' })
      await known.run('t', { agent: 'script', input: { script: [] } })
      await known.run('t', { agent: 'echo', prompt: 'x' })
      // @ts-expect-error there is no such agent
      await known.run('t', { agent: 'ecko', prompt: 'x' })
    })
  })
})

describe('the sockets that a client takes', () => {
  it('are those of the platform and of ws', () => {
    expectTypeOf<typeof WebSocket>().toExtend<SocketConstructor>()
    expectTypeOf<typeof WsSocket>().toExtend<SocketConstructor>()
  })
})
