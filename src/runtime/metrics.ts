import { type Meter, metrics } from '@opentelemetry/api'
import { type Status, terminalStatuses } from '../core/status.ts'
import { type Operation, operations } from '../core/unit.ts'

/** What can be measured at any moment, asked for when somebody collects. */
export interface Gauges {
  queueDepth(): number
  unclaimableTasks(): number
  streams(): number
  owedHooks(): number
  nodes(): number
  /** Undefined where it cannot be told. */
  storeBytes(): number | undefined
}

/** How a call of `onEnded` went. */
const hookResults = ['answered', 'failed', 'given_up'] as const

/** The one histogram, of which nothing is to be seen before the first flush unless its reader adds it. */
export const flushSeconds = {
  name: 'holdfast_flush_seconds',
  description: 'How long the store took to commit a batch',
  unit: 's',
  // A flush of a good disk takes about a millisecond; a commit over five seconds is an outage.
  boundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
} as const

/**
 * What the runtime counts, by the OpenTelemetry API: without an SDK nothing is kept. The names are those of the wire
 * contract; an exporter adds `_total` to counters. Every counter begins at 0, so that its first change shows as one.
 */
export class Metrics {
  readonly #meter: Meter
  readonly #commitFailures
  readonly #lateEmits
  readonly #tasks
  readonly #flush
  readonly #ringMisses
  readonly #hooks
  readonly #events
  readonly #slowReaders
  #stop: () => void = () => {}

  constructor(meter: Meter = metrics.getMeter('holdfast')) {
    this.#meter = meter
    const counter = (name: string, description: string) => meter.createCounter(name, { description })
    this.#commitFailures = counter('holdfast_commit_failures', 'Commits that the store failed, by what was in them')
    this.#lateEmits = counter('holdfast_late_emits', 'Emits of tasks that had ended, which were dropped')
    this.#tasks = counter('holdfast_tasks', 'Tasks that ended on this node')
    this.#ringMisses = counter('holdfast_ring_misses', 'Reads of a log that went to the store')
    this.#hooks = counter('holdfast_hooks', 'Calls of onEnded, by how they went')
    this.#events = counter('holdfast_events', 'Events that this node committed')
    this.#slowReaders = counter('holdfast_slow_readers', 'Readers that were cut because they took nothing')
    const { name, description, unit, boundaries } = flushSeconds
    const advice = { explicitBucketBoundaries: [...boundaries] }
    this.#flush = meter.createHistogram(name, { description, unit, advice })
    for (const operation of operations) this.#commitFailures.add(0, { operation })
    for (const status of terminalStatuses) this.#tasks.add(0, { status })
    for (const result of hookResults) this.#hooks.add(0, { result })
    this.#lateEmits.add(0)
    this.#ringMisses.add(0)
    this.#events.add(0)
    this.#slowReaders.add(0)
  }

  commitFailed(failed: Iterable<Operation>): void {
    for (const operation of failed) this.#commitFailures.add(1, { operation })
  }

  lateEmit(): void {
    this.#lateEmits.add(1)
  }

  taskEnded(status: Status): void {
    this.#tasks.add(1, { status })
  }

  flushed(seconds: number): void {
    this.#flush.record(seconds)
  }

  ringMissed(): void {
    this.#ringMisses.add(1)
  }

  committed(eventCount: number): void {
    if (eventCount > 0) this.#events.add(eventCount)
  }

  slowReader(): void {
    this.#slowReaders.add(1)
  }

  hookCalled(result: (typeof hookResults)[number]): void {
    this.#hooks.add(1, { result })
  }

  observe(gauges: Gauges): void {
    const gauge = (name: string, description: string) => this.#meter.createObservableGauge(name, { description })
    const queueDepth = gauge('holdfast_queue_depth', 'Tasks that are accepted and not started')
    const unclaimable = gauge('holdfast_unclaimable_tasks', 'Tasks that may start, of agents that this node has not')
    const streams = gauge('holdfast_streams', 'Readers that follow a log on this node')
    const owedHooks = gauge('holdfast_hooks_owed', 'Ended tasks that onEnded is still to be called for')
    const nodes = gauge('holdfast_nodes', 'Nodes that hold a lease on the store')
    const bytes = gauge('holdfast_store_bytes', 'What the store takes on its disk')
    const instruments = [queueDepth, unclaimable, streams, owedHooks, nodes, bytes]
    const report = (result: { observe(gauge: (typeof instruments)[number], value: number): void }) => {
      result.observe(queueDepth, gauges.queueDepth())
      result.observe(unclaimable, gauges.unclaimableTasks())
      result.observe(streams, gauges.streams())
      result.observe(owedHooks, gauges.owedHooks())
      result.observe(nodes, gauges.nodes())
      const storeBytes = gauges.storeBytes()
      if (storeBytes !== undefined) result.observe(bytes, storeBytes)
    }
    this.#meter.addBatchObservableCallback(report, instruments)
    this.#stop = () => this.#meter.removeBatchObservableCallback(report, instruments)
  }

  close(): void {
    this.#stop()
  }
}
