import { defaultLimits } from '../../../src/core/limits.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { Company } from '../../../src/runtime/company.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { Threads } from '../../../src/runtime/threads.ts'
import { Writer } from '../../../src/runtime/writer.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/index.ts'

/** A writer on a store, with nothing around it that could make a task. */
export function writerOn(store: Store, clock = manualClock(0), onCommitted: (unit: Unit) => void = () => {}): Writer {
  const around = {
    node: 'node',
    limits: defaultLimits,
    newTaskId: () => {
      throw new Error('no task is made here')
    },
    takeSlot: () => false,
    versionOf: () => undefined,
    decided: () => {},
    giveBack: () => {},
    refillTaskIds: async () => {},
  }
  return new Writer({
    store,
    threads: new Threads(store),
    clock,
    log: silentLogger,
    metrics: new Metrics(),
    around,
    company: new Company(clock),
    onCommitted,
    onFatal: () => {},
  })
}
