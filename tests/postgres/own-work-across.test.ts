import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AgentContext, type CreateRuntimeOptions, createRuntime, type Runtime } from '../../src/index.ts'
import { headStartMs } from '../../src/stores/claim.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { gate } from '../scenarios/world.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let clock: ReturnType<typeof manualClock>
const open: Runtime[] = []

beforeEach(() => {
  schema = testSchema()
  clock = manualClock()
})

afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close({ drainMs: 0 })
  await schema.drop()
})

type Agents = Record<string, (ctx: AgentContext) => Promise<unknown>>

/** A node whose looks for work are counted. The store's clock stands still, so that what was accepted stays young. */
async function node(agents: Agents, options: Pick<CreateRuntimeOptions, 'concurrency' | 'clock'>) {
  const store = postgresStore({ url: schema.url, clock })
  const looks = { count: 0 }
  const claim = store.claim.bind(store)
  store.claim = async (query) => {
    const offer = await claim(query)
    if (query.starts > 0) looks.count += 1
    return offer
  }
  const runtime = createRuntime({ store, agents, ...options })
  open.push(runtime)
  await runtime.opened()
  return { runtime, looks, id: (await runtime.info()).node }
}

it('a node that lets a task wait starts it itself if it gets a slot within a moment, and leaves it to others after that', async () => {
  const [first, second] = [gate(), gate()]
  const gates = [first, second]
  const held = () => gates.shift()?.opened ?? Promise.resolve()
  const agents = { held, quick: async ({ attempt }: AgentContext) => attempt }
  // No poll comes round on either; the idle one looks when it hears of something and its time goes on.
  const full = await node(agents, { concurrency: 1, clock: manualClock() })
  const time = manualClock()
  const idle = await node(agents, { concurrency: 4, clock: time })
  const run = (agent: string, thread: string) => full.runtime.run({ thread, agent, prompt: 'go' })
  const startedBy = async (thread: string) => {
    for await (const { type, data } of full.runtime.subscribe({ thread }))
      if (type === 'task.started') return (data as { node: string }).node
    return undefined
  }

  await run('held', 'a')
  const waiting = await run('quick', 'b')
  const before = idle.looks.count
  const looksAfter = async () => {
    await time.advance(1)
    return idle.looks.count
  }
  await expect.poll(looksAfter, { interval: 5 }).toBeGreaterThan(before + 1)
  expect((await full.runtime.get(waiting.id))?.status).toBe('pending')
  first.open()
  expect(await startedBy('b')).toBe(full.id)
  await full.runtime.wait(waiting.id)

  await run('held', 'c')
  const left = await run('quick', 'd')
  await clock.advance(headStartMs)
  const statusAfter = async () => {
    await time.advance(1)
    return (await full.runtime.get(left.id))?.status
  }
  await expect.poll(statusAfter, { interval: 5 }).toBe('completed')
  expect(await startedBy('d')).toBe(idle.id)
  second.open()
})
