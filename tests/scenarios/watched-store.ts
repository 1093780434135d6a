import type { Unit } from '../../src/core/unit.ts'
import type { Store } from '../../src/stores/store.ts'

/** What a world has seen its stores do, over all the runtimes that were opened on them. */
export interface Traffic {
  /** Calls that were made, and those of them that are not answered yet. */
  callCount: number
  underWayCount: number
  /** Called when the last call under way is answered. */
  onAnswered: (() => void)[]
  /** Every unit that was committed, in order. */
  readonly committed: Unit[]
}

/** The same store, with its traffic counted. */
export function watchedStore(store: Store, traffic: Traffic): Store {
  async function counted<Value>(answer: Promise<Value>): Promise<Value> {
    traffic.callCount += 1
    traffic.underWayCount += 1
    try {
      return await answer
    } finally {
      traffic.underWayCount -= 1
      if (traffic.underWayCount === 0) for (const listener of traffic.onAnswered.splice(0)) listener()
    }
  }

  async function commit(units: readonly Unit[], onLate?: () => void) {
    const verdicts = await store.commit(units, onLate)
    traffic.committed.push(...units.filter((_unit, index) => verdicts[index]?.committed))
    return verdicts
  }

  return {
    kind: store.kind,
    isDurable: store.isDurable,
    isShared: store.isShared,
    clock: store.clock,
    open: () => counted(store.open()),
    close: () => counted(store.close()),
    commit: (units, onLate) => counted(commit(units, onLate)),
    allocate: (count) => counted(store.allocate(count)),
    livePart: (key) => counted(store.livePart(key)),
    snapshot: (key, limits) => counted(store.snapshot(key, limits)),
    events: (key, query) => counted(store.events(key, query)),
    messages: (key, query) => counted(store.messages(key, query)),
    task: (id) => counted(store.task(id)),
    tasks: (query) => counted(store.tasks(query)),
    threads: (query) => counted(store.threads(query)),
    questions: (query) => counted(store.questions(query)),
    steps: (task, which) => counted(store.steps(task, which)),
    claim: (query) => counted(store.claim(query)),
    renew: (node, leaseMs) => counted(store.renew(node, leaseMs)),
    watch: (listener) => store.watch(listener),
    moved: (places) => counted(store.moved(places)),
  }
}
