import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes } from './several-nodes.ts'

const nodes = severalNodes()

/** What a node says went wrong, as it says it. */
function errorLog() {
  const errors: string[] = []
  return {
    errors,
    log: { debug() {}, info() {}, warn() {}, error: (_facts: object, text: string) => errors.push(text) },
  }
}

it('a thread whose row another program holds stops no other thread, and goes on when it is free', async () => {
  const goOn = gate()
  const agents = {
    echo: () => 'done',
    talker: async (ctx: AgentContext) => {
      await ctx.say('before')
      await goOn.opened
      await ctx.say('after')
      return 'done'
    },
  }
  const one = await nodes.open({ agents, leaseMs: 1_500 })
  const { id } = await one.run({ thread: 'held', agent: 'talker', prompt: 'go' })
  await one.run({ thread: 'other', agent: 'echo', prompt: 'go' })
  const letGo = await nodes.schema.hold(`SELECT FROM holdfast.threads WHERE key LIKE '%/held' FOR UPDATE`)
  goOn.open()
  await expect(one.run({ thread: 'held', agent: 'echo', prompt: 'refused' })).rejects.toMatchObject({
    code: 'store_unavailable',
  })
  for (let n = 0; n < 20; n++) {
    const { id } = await one.run({ thread: `other-${n % 4}`, agent: 'echo', prompt: 'go' })
    expect(await one.wait(id)).toMatchObject({ status: 'completed' })
  }
  expect([await one.isReady(), (await one.get(id))?.status]).toEqual([true, 'running'])
  await letGo()
  expect(await one.wait(id)).toMatchObject({ status: 'completed', result: 'done' })
  const [, said] = await one.messages('held')
  expect(said?.parts).toEqual([{ type: 'text', text: 'beforeafter' }])
})

it.for(['LOCK TABLE holdfast.threads IN SHARE MODE', 'SELECT FROM holdfast.lanes FOR UPDATE'])(
  'what all commits need, held by another program, makes the node unready, and nobody waits for an answer: %s',
  async (sql) => {
    const one = await nodes.open({ agents: { echo: () => 'done' }, leaseMs: 1_500 })
    await one.run({ thread: 't', agent: 'echo', prompt: 'go' })
    const letGo = await nodes.schema.hold(sql)
    const asks = Array.from({ length: 30 }, (_, n) => one.run({ thread: `t-${n}`, agent: 'echo', prompt: 'go' }))
    const refusal = { status: 'rejected', reason: { code: 'store_unavailable' } }
    expect(await Promise.allSettled(asks)).toMatchObject(asks.map(() => refusal))
    expect(await one.isReady()).toBe(false)
    await letGo()
    await expect.poll(() => one.isReady()).toBe(true)
    const { id } = await one.run({ thread: 't', agent: 'echo', prompt: 'again' })
    expect(await one.wait(id)).toMatchObject({ status: 'completed' })
  },
)

it.for(['chunks', 'tasks', 'messages', 'steps', 'mail', 'questions', 'keys'])(
  'the table %s, held by another program, is not taken for a thread that is',
  async (table) => {
    const talker = async (ctx: AgentContext) => {
      await ctx.step('a', () => 1)
      await ctx.ask({ text: 'well?' })
    }
    const { errors, log } = errorLog()
    const one = await nodes.open({ agents: { talker }, leaseMs: 1_500, log })
    const letGo = await nodes.schema.hold(`LOCK TABLE holdfast.${table} IN SHARE MODE`)
    const { id } = await one.run({ thread: 't', agent: 'talker', prompt: 'go' }).catch(() => ({ id: undefined }))
    if (id !== undefined) await one.send(id, { content: 'hello' }).catch(() => undefined)
    void one.run({ thread: 'keyed', agent: 'talker', prompt: 'go', idempotencyKey: 'a' }).catch(() => undefined)
    await expect.poll(() => errors).toContain('the store is not available; writing is retried')
    await letGo()
    await expect.poll(() => one.isReady()).toBe(true)
  },
)

it('a table that another program keeps even from readers makes a node with nothing to write unready for as long', async () => {
  const { errors, log } = errorLog()
  const one = await nodes.open({ agents: {}, leaseMs: 1_500, log })
  const letGo = await nodes.schema.hold('LOCK TABLE holdfast.tasks IN ACCESS EXCLUSIVE MODE')
  await expect.poll(() => one.isReady()).toBe(false)
  await letGo()
  await expect.poll(() => one.isReady()).toBe(true)
  expect(errors).toEqual(['the store is not available; writing is retried'])
})
