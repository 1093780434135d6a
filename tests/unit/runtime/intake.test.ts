import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type AgentContext, createRuntime } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { faultyStore } from '../../../src/testing/index.ts'
import { gate } from '../../scenarios/world.ts'

it('a message that was written is no refusal, though the task that got it cannot be read after it', async () => {
  const begun = gate()
  let isAway = false
  const base = faultyStore(memoryStore())
  const task: typeof base.task = (id) =>
    isAway ? Promise.reject(new HoldfastError('store_unavailable', 'The store is away')) : base.task(id)
  const listener = async (ctx: AgentContext) => {
    begun.open()
    return await ctx.receive()
  }
  const runtime = createRuntime({ store: { ...base, isShared: true, task }, agents: { listener } })
  const { id } = await runtime.run({ thread: 't', agent: 'listener', prompt: 'go' })
  await begun.opened
  isAway = true
  const prompt = { thread: 't', agent: 'listener', prompt: 'mind the gap', onBusy: 'steer' } as const
  expect(await runtime.run(prompt)).toMatchObject({ id, steered: expect.any(String) })
  isAway = false
  expect(await runtime.wait(id)).toMatchObject({
    status: 'completed',
    result: { payload: { content: 'mind the gap' } },
  })
  await runtime.close()
})
