import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { Recovery } from '../../../src/runtime/recovery.ts'
import { registryOf } from '../../../src/runtime/registry.ts'
import { Slots } from '../../../src/runtime/slots.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { accepting, changed, commit, running, unit } from '../../../src/testing/store-suite/builders.ts'
import { writerOn } from './writer-on.ts'

it('nothing is kept for the resume of a task that another node took over meanwhile', async () => {
  const inner = memoryStore()
  await inner.open()
  const record = running('bg_0', { agent: 'helper', node: 'gone', epoch: 1 })
  await commit(inner, accepting(record))
  const steps: Store['steps'] = async (task) => {
    await commit(inner, unit({ tasks: [changed({ ...record, node: 'other', epoch: 3 })] }))
    return inner.steps(task)
  }
  const store = new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = name === 'steps' ? steps : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const slots = new Slots(1, () => {})
  const agents = registryOf({ helper: () => 'done' })
  const recovery = new Recovery({
    store,
    writer: writerOn(store),
    slots,
    log: silentLogger,
    agents,
    clock: manualClock(),
    onRested: () => {},
  })
  slots.tryTake()
  await recovery.recover({ id: record.id, key: record.key })
  await recovery.settled()
  expect(recovery.takeResumption(record.id)).toBeUndefined()
  expect([slots.free, (await inner.task(record.id))?.node]).toEqual([1, 'other'])
})
