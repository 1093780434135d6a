import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentContext, createRuntime, type Event, type Runtime, restoreTasks } from '../../src/index.ts'
import { gate } from '../scenarios/world.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let runtimes: Runtime[]

beforeEach(() => {
  schema = testSchema()
  runtimes = []
})

afterEach(async () => {
  for (const runtime of runtimes) await runtime.close({ drainMs: 0 })
  await schema.drop()
})

async function open(agents: Record<string, (ctx: AgentContext) => Promise<unknown>>): Promise<Runtime> {
  const runtime = createRuntime({ store: schema.url, agents })
  runtimes.push(runtime)
  await runtime.opened()
  return runtime
}

describe('runtimes on one Postgres', () => {
  it('are opened by its URL, and say what they are on', async () => {
    const runtime = await open({ echo: async () => 'done' })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 'done' })
    expect(await runtime.info()).toMatchObject({ store: { kind: 'postgres', isDurable: true } })
    expect(id).toBe('bg_0')
  })

  it('show what runs on one of them to whoever watches the other, each event once and in order', async () => {
    const goOn = gate()
    const talker = async (ctx: AgentContext) => {
      for (let n = 0; n < 50; n++) await ctx.say(`${n} `)
      await goOn.opened
      await ctx.say('end')
    }
    const [one, two] = [await open({ talker }), await open({})]
    const seen: Event[] = []
    const { id } = await one.run({ thread: 't', agent: 'talker', prompt: 'go' })
    const watching = (async () => {
      for await (const event of two.subscribe({ thread: 't' })) {
        seen.push(event)
        if (event.type === 'task.completed') return
      }
    })()
    await expect.poll(() => seen.length).toBeGreaterThan(10)
    goOn.open()
    await one.wait(id)
    await watching
    expect(seen.map((event) => event.seq)).toEqual(seen.map((_, n) => n + 1))
    expect(await two.get(id)).toMatchObject({ status: 'completed' })
  })

  it('take over the work of one that closes, from its last step', async () => {
    const started = gate()
    const first = async (ctx: AgentContext) => {
      const value = await ctx.step('once', () => 'from the first')
      started.open()
      await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      return value
    }
    const one = await open({ worker: first })
    const { id } = await one.run({ thread: 't', agent: 'worker', prompt: 'go' })
    await started.opened
    const two = await open({ worker: (ctx) => ctx.step('once', () => 'from the second') })
    await one.close({ drainMs: 0 })
    expect(await two.wait(id)).toMatchObject({ status: 'completed', result: 'from the first', attempt: 2 })
  })

  it('accept on, though one restores tasks under numbers that another has at hand', async () => {
    const agents = { quick: async () => 'done' }
    const [one, two] = [await open(agents), await open(agents)]
    const spawn = (thread: string) => one.spawn({ thread, agent: 'quick' })
    const spawned = await Promise.all(Array.from({ length: 40 }, (_, n) => spawn(`t${n}`)))
    const used = Math.max(...spawned.map(({ id }) => Number(id.slice('bg_'.length))))
    const record = {
      type: 'agent',
      agent: 'quick',
      description: 'old',
      status: 'completed',
      attempt: 1,
      epoch: 1,
    } as const
    const tasks = Array.from({ length: 80 }, (_, n) => ({
      ...record,
      id: `bg_${used + 1 + n}`,
      thread: 'old',
      createdAt: 1,
    }))
    await restoreTasks(
      two,
      Object.fromEntries(tasks.map((task) => [task.id, task])) as Parameters<typeof restoreTasks>[1],
    )
    for (let n = 0; n < 5; n++) {
      const { id } = await spawn(`u${n}`)
      expect(Number(id.slice('bg_'.length))).toBeGreaterThan(used + 80)
    }
  })
})
