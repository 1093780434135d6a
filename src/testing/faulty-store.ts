import { HoldfastError } from '../core/errors.ts'
import type { Unit, Verdict } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'

/** What is to happen to a commit before it reaches the store. */
export type Fault = 'none' | 'fail' | 'crash_before' | 'crash_after'

/** A store that fails on command, and counts what is asked of it. */
export interface FaultyStore extends Store {
  /** Decides the fate of each commit; `number` counts from 1. */
  plan(fault: (units: readonly Unit[], number: number) => Fault): void
  /** Every commit fails as `store_unavailable` until `up`. */
  down(): void
  up(): void
  /** Commits wait here until the gate is opened. */
  hold(): { open(): void; readonly reached: Promise<void> }
  /**
   * As if the process had died here: no call is answered any more, nothing is written, and the store beneath is
   * closed, so that it can be opened again.
   */
  crash(): Promise<void>
  readonly crashed: Promise<void>
  readonly commitCount: number
}

export function faultyStore(inner: Store): FaultyStore {
  let plan: (units: readonly Unit[], number: number) => Fault = () => 'none'
  let isDead = false
  let commitCount = 0
  let gate: { passed: Promise<void>; reach: () => void } | undefined
  const { promise: crashed, resolve: tellCrashed } = Promise.withResolvers<void>()

  const never = <Value>() => new Promise<Value>(() => {})
  const alive = <Value>(call: () => Promise<Value>): Promise<Value> =>
    isDead ? never() : call().then((value) => (isDead ? never() : value))

  async function crash(): Promise<void> {
    if (isDead) return
    isDead = true
    await inner.close()
    tellCrashed()
  }

  async function commit(units: readonly Unit[]): Promise<Verdict[]> {
    commitCount += 1
    const fault = plan(units, commitCount)
    const held = gate
    held?.reach()
    await held?.passed
    if (fault === 'fail') throw new HoldfastError('store_unavailable', 'The store fails on command')
    if (fault === 'crash_before') void crash()
    if (isDead) return never()
    const verdicts = await inner.commit(units)
    if (fault === 'crash_after') void crash()
    return isDead ? never() : verdicts
  }

  return {
    kind: inner.kind,
    isDurable: inner.isDurable,
    clock: inner.clock,
    open: () => inner.open(),
    close: async () => {
      if (!isDead) await inner.close()
    },
    commit: (units) => (isDead ? never() : commit(units)),
    allocate: (count) => alive(() => inner.allocate(count)),
    livePart: (key) => alive(() => inner.livePart(key)),
    snapshot: (key, limits) => alive(() => inner.snapshot(key, limits)),
    events: (key, query) => alive(() => inner.events(key, query)),
    messages: (key, query) => alive(() => inner.messages(key, query)),
    task: (id) => alive(() => inner.task(id)),
    tasks: (query) => alive(() => inner.tasks(query)),
    threads: (query) => alive(() => inner.threads(query)),
    steps: (task) => alive(() => inner.steps(task)),
    claim: (query) => alive(() => inner.claim(query)),
    renew: (node, leaseMs) => alive(() => inner.renew(node, leaseMs)),
    watch: (listener) => inner.watch(listener),
    plan: (fault) => {
      plan = fault
    },
    down: () => {
      plan = () => 'fail'
    },
    up: () => {
      plan = () => 'none'
    },
    hold: () => {
      const passing = Promise.withResolvers<void>()
      const reaching = Promise.withResolvers<void>()
      gate = { passed: passing.promise, reach: reaching.resolve }
      const open = () => {
        gate = undefined
        passing.resolve()
      }
      return { open, reached: reaching.promise }
    },
    crash,
    crashed,
    get commitCount() {
      return commitCount
    },
  }
}
