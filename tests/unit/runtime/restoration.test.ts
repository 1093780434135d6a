import { expect, it } from 'vitest'
import { createRuntime, type PersistedTask, persistTask } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { faultyStore } from '../../../src/testing/faulty-store.ts'

it('a restore writes no more at once than one large task, or as many small ones as take as much', async () => {
  const store = faultyStore(memoryStore())
  const units: string[][] = []
  store.plan((committed) => {
    for (const { operation, tasks = [] } of committed) {
      if (operation === 'restore') units.push(tasks.map(({ record }) => record.id))
    }
    return 'none'
  })
  const runtime = createRuntime({ store, agents: {} })
  const restored = (n: number, length: number): PersistedTask => {
    const task = { id: `bg_${n}`, seq: 3, type: 'agent', description: '', status: 'completed', attempt: 1, epoch: 1 }
    return persistTask({ ...task, createdAt: 1000 + n, result: 'x'.repeat(length) } as PersistedTask, 't')
  }
  await runtime.restore([
    restored(1, 10),
    restored(2, 400_000),
    restored(3, 600_000),
    restored(4, 100_000),
    restored(5, 5_000_000),
  ])
  expect(units).toEqual([['bg_1', 'bg_2', 'bg_3'], ['bg_4'], ['bg_5']])
  await runtime.close()
})
