import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentContext, agent, type Runtime, type StandardSchema } from '../../src/index.ts'
import { forever } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

const thread = 't'

const topic = z.object({ topic: z.string().min(1), depth: z.coerce.number().int().max(9).default(1) })

const research = agent({
  description: 'Looks things up',
  input: topic,
  run: (_ctx, input) => input,
})

/** A schema of no library, whose answer the test decides. */
function schemaOf(validate: StandardSchema['~standard']['validate']): StandardSchema {
  return { '~standard': { version: 1, vendor: 'test', validate } }
}

async function nothingStored(runtime: Runtime): Promise<void> {
  expect((await runtime.threads()).threads).toEqual([])
  expect((await runtime.list({})).tasks).toEqual([])
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('an input that fits is stored as it was given, and the agent gets what the schema makes of it', async () => {
    const runtime = await world().open({ agents: { research } })
    const run = await runtime.run({ thread, agent: 'research', input: { topic: 'owls', depth: '3' } })
    expect(await runtime.wait(run.id)).toMatchObject({
      status: 'completed',
      input: { topic: 'owls', depth: '3' },
      result: { topic: 'owls', depth: 3 },
    })
    const task = await runtime.spawn({ thread, agent: 'research', input: { topic: 'bats' } })
    expect((await runtime.wait(task.id))?.result).toEqual({ topic: 'bats', depth: 1 })
  })

  it('an input that does not fit is refused with its places, by run and by spawn, and nothing is stored', async () => {
    const runtime = await world().open({ agents: { research } })
    const input = { topic: '', depth: 'much' }
    const errors = [
      { path: 'input.topic', message: expect.any(String) },
      { path: 'input.depth', message: expect.any(String) },
    ]
    for (const asking of [
      runtime.run({ thread, agent: 'research', input }),
      runtime.run({ thread, agent: 'research', input, onBusy: 'interrupt', idempotencyKey: 'k' }),
      runtime.spawn({ thread, agent: 'research', input, name: 'n' }),
    ]) {
      await expect(asking).rejects.toMatchObject({ code: 'invalid_input', facts: { errors } })
    }
    await nothingStored(runtime)
    const repaired = { thread, agent: 'research', input: { topic: 'owls' }, idempotencyKey: 'k' } as const
    expect(await runtime.run(repaired)).not.toHaveProperty('isReplayed')
  })

  it('a prompt, parts and nothing at all are inputs like any other, each named by its field', async () => {
    const runtime = await world().open({
      agents: { research, say: agent({ input: z.string(), run: (_ctx, text) => text }) },
    })
    const place = (path: string) => ({ code: 'invalid_input', facts: { errors: [expect.objectContaining({ path })] } })
    await expect(runtime.run({ thread, agent: 'research', prompt: 'owls' })).rejects.toMatchObject(place('prompt'))
    const parts = [{ type: 'text', text: 'owls' }] as const
    await expect(runtime.run({ thread, agent: 'say', parts })).rejects.toMatchObject(place('parts'))
    await expect(runtime.spawn({ thread, agent: 'research' })).rejects.toMatchObject(place('input'))
    await nothingStored(runtime)
    const run = await runtime.run({ thread, agent: 'say', prompt: 'owls' })
    expect((await runtime.wait(run.id))?.result).toBe('owls')
  })

  it('steering is checked by the schema of the agent that it would become a run of', async () => {
    const held = agent({ input: z.object({}), run: forever })
    const runtime = await world().open({ agents: { held } })
    await runtime.run({ thread, agent: 'held', input: {} })
    const before = await logOf(runtime, thread)
    await expect(runtime.run({ thread, agent: 'held', prompt: 'left', onBusy: 'steer' })).rejects.toMatchObject({
      code: 'invalid_input',
    })
    expect(await logOf(runtime, thread)).toEqual(before)
  })

  it('a schema may take its time, and what it throws is a defect of the agent, not of the input', async () => {
    const asked = gate()
    const answered = gate()
    const slow = schemaOf(async (value) => {
      asked.open()
      await answered.opened
      return { value: [value] }
    })
    const throwing = schemaOf(() => {
      throw new Error('no such table')
    })
    const run = (_ctx: AgentContext, input: unknown) => input
    const rejecting = schemaOf(() => Promise.reject(new Error('no such table')))
    const agents = {
      slow: { input: slow, run },
      throwing: { input: throwing, run },
      rejecting: { input: rejecting, run },
    }
    const runtime = await world().open({ agents })
    for (const name of ['throwing', 'rejecting']) {
      await expect(runtime.run({ thread, agent: name, prompt: 'x' })).rejects.toMatchObject({
        code: 'internal_error',
        message: expect.stringContaining(`schema of the agent ${name} failed: no such table`),
      })
    }
    const accepting = runtime.run({ thread, agent: 'slow', prompt: 'x' })
    await asked.opened
    await nothingStored(runtime)
    answered.open()
    expect((await runtime.wait((await accepting).id))?.result).toEqual(['x'])
  })

  it('a spawn inside a task is checked as well, and a refusal that was met is met again after a crash', async () => {
    const here = world()
    const refused: unknown[] = []
    const hasMet = gate()
    const agents = {
      research,
      lead: async (ctx: AgentContext) => {
        const met = await ctx.spawn({ agent: 'research', input: { topic: 7 } }).catch((error: unknown) => error)
        refused.push((met as { code?: string }).code)
        if (ctx.attempt === 1) {
          hasMet.open()
          await forever()
        }
        const { id } = await ctx.spawn({ agent: 'research', input: { topic: 'owls' } })
        return ctx.wait(id)
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    await hasMet.opened
    await here.crash()
    const next = await here.open({ agents })
    expect((await next.wait(run.id))?.result).toMatchObject({ answer: { topic: 'owls', depth: 1 } })
    expect(refused).toEqual(['invalid_input', 'invalid_input'])
  })

  it('a resumed task is given the same, parsed anew from what was stored', async () => {
    const here = world()
    const parsed: unknown[] = []
    const given: unknown[] = []
    const hasBegun = gate()
    const input = schemaOf((value) => {
      parsed.push(value)
      return { value: { at: new Date(String(value)) } }
    })
    const agents = {
      dated: agent({
        input,
        run: async (ctx, value) => {
          given.push(value)
          if (ctx.attempt > 1) return 'done'
          hasBegun.open()
          return forever()
        },
      }),
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread, agent: 'dated', input: '2026-01-02T03:04:05.000Z' })
    await hasBegun.opened
    await here.crash()
    const next = await here.open({ agents })
    expect((await next.wait(run.id))?.result).toBe('done')
    const value = { at: new Date('2026-01-02T03:04:05.000Z') }
    expect(given).toEqual([value, value])
    expect(parsed).toEqual(Array.from({ length: 3 }, () => '2026-01-02T03:04:05.000Z'))
  })

  it('a task whose agent has another schema by the time it starts fails, and says what does not fit', async () => {
    const here = world()
    const runtime = await here.open({ agents: { held: () => forever(), research } })
    await runtime.run({ thread, agent: 'held', prompt: 'go' })
    const run = await runtime.run({ thread, agent: 'research', input: { topic: 'owls' } })
    await here.crash()
    const stricter = agent({ input: topic.extend({ year: z.number() }), run: () => 'not called' })
    const next = await here.open({ agents: { held: () => 'over', research: stricter } })
    expect(await next.wait(run.id)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: expect.stringContaining('input.year') },
    })
  })

  it('the schema is shown as JSON Schema where it can be, and a stated one goes first', async () => {
    const run = () => 'done'
    const unspeakable = z.custom<URL>((value) => value instanceof URL)
    const runtime = await world().open({
      agents: {
        research,
        stated: agent({ input: topic, inputSchema: { description: 'A topic' }, run }),
        unspeakable: agent({ input: unspeakable, run }),
        bare: agent({ input: schemaOf((value) => ({ value })), run }),
        plain: agent(run),
      },
    })
    const [first, stated, ...rest] = await runtime.agents()
    expect(first).toMatchObject({
      name: 'research',
      description: 'Looks things up',
      inputSchema: { type: 'object', required: ['topic'], properties: { topic: { type: 'string' } } },
    })
    expect(stated).toEqual({ name: 'stated', inputSchema: { description: 'A topic' } })
    for (const summary of rest) expect(summary).not.toHaveProperty('inputSchema')
  })
})

it('what is no agent, or has no schema as its input, is refused where it is made or registered', async () => {
  for (const wrong of [undefined, null, 'research', {}, { input: topic }]) {
    expect(() => agent(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  }
  const { createRuntime } = await import('../../src/index.ts')
  for (const input of [{ type: 'object' }, 'text', { '~standard': { version: 2, validate: () => ({}) } }, null]) {
    const refusal = { code: 'invalid_request', message: expect.stringContaining('Standard Schema') }
    const make = () => createRuntime({ store: 'memory:', agents: { odd: { input, run: () => 1 } as never } })
    expect(make).toThrow(expect.objectContaining(refusal))
  }
})
