import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { Client, EndedTask, InputOf } from '../../../src/client/index.ts'
import { type AgentContext, agent, type StandardSchema } from '../../../src/index.ts'

const agents = {
  research: agent({
    input: z.object({ topic: z.string(), depth: z.coerce.number<string>().default(1) }),
    run: async (ctx: AgentContext<{ found: { readonly url: string } }>, input) => {
      expectTypeOf(input).toEqualTypeOf<{ topic: string; depth: number }>()
      await ctx.emit('found', { url: input.topic })
      return { count: input.depth }
    },
  }),
  write: agent({
    input: z.string(),
    async *run(ctx, text) {
      expectTypeOf(ctx).toEqualTypeOf<AgentContext>()
      expectTypeOf(text).toEqualTypeOf<string>()
      yield text
      return text.length
    },
  }),
  own: agent({
    input: {} as StandardSchema<'a' | 'b', boolean>,
    run: (_ctx, isA) => {
      expectTypeOf(isA).toEqualTypeOf<boolean>()
    },
  }),
  plain: agent(async (ctx, input: { readonly n: number }) => {
    expectTypeOf(ctx).toEqualTypeOf<AgentContext>()
    return input.n
  }),
  stated: agent({ version: '2', run: (_ctx, input: { readonly n: number }) => [input.n] }),
}

declare const client: Client<typeof agents>

/** Takes code whose types are looked at and which is never called. */
function onlyTyped(_code: () => Promise<void>): void {}

describe('agents made with agent()', () => {
  it('take what their schema takes, and give what their code returns', () => {
    expectTypeOf<InputOf<typeof agents.research>>().toEqualTypeOf<{ topic: string; depth?: string | undefined }>()
    expectTypeOf<InputOf<typeof agents.own>>().toEqualTypeOf<'a' | 'b'>()
    onlyTyped(async () => {
      const task = await client.run('t', { agent: 'research', input: { topic: 'owls', depth: '3' } })
      expectTypeOf(await client.wait(task)).toEqualTypeOf<EndedTask<{ count: number }>>()
      const written = await client.run('t', { agent: 'write', prompt: 'x' })
      expectTypeOf(written.result).toEqualTypeOf<number | undefined>()
      await client.spawn('t', { agent: 'own', input: 'a' })
      const plain = await client.run('t', { agent: 'plain', input: { n: 1 } })
      expectTypeOf(plain.result).toEqualTypeOf<number | undefined>()
      const stated = await client.run('t', { agent: 'stated', input: { n: 1 } })
      expectTypeOf(stated.result).toEqualTypeOf<number[] | undefined>()
    })
  })

  it('take nothing else', () => {
    onlyTyped(async () => {
      // @ts-expect-error what the code is given is not what the schema takes
      await client.run('t', { agent: 'research', input: { topic: 'owls', depth: 3 } })
      // @ts-expect-error it takes no text
      await client.run('t', { agent: 'research', prompt: 'owls' })
      // @ts-expect-error there is no such letter
      await client.run('t', { agent: 'own', input: 'c' })
      // @ts-expect-error the code takes something else than the schema gives
      agent({ input: z.string(), run: (_ctx, input: number) => input })
      // @ts-expect-error a JSON Schema is no Standard Schema
      agent({ input: { type: 'object' }, run: () => 1 })
    })
  })

  it('give their custom events by name', () => {
    onlyTyped(async () => {
      const found = { research: agents.research }
      const known = client as unknown as Client<typeof found>
      for await (const item of known.thread('t').attach()) {
        if (item.type === 'custom') expectTypeOf(item.data.name).toEqualTypeOf<'found'>()
      }
    })
  })
})
