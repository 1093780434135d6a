import { metrics } from '@opentelemetry/api'
import type { Status } from '../core/status.ts'
import type { Operation } from '../core/unit.ts'

/** What can be measured at any moment, asked for when somebody collects. */
export interface Gauges {
  queueDepth(): number
  unclaimableTasks(): number
  streams(): number
}

/**
 * What the runtime counts, by the OpenTelemetry API: without an SDK nothing is kept. The names are those of the wire
 * contract; an exporter adds `_total` to counters.
 */
export class Metrics {
  readonly #meter = metrics.getMeter('holdfast')
  readonly #commitFailures = this.#meter.createCounter('holdfast_commit_failures')
  readonly #lateEmits = this.#meter.createCounter('holdfast_late_emits')
  readonly #tasks = this.#meter.createCounter('holdfast_tasks')
  readonly #flush = this.#meter.createHistogram('holdfast_flush_seconds', { unit: 's' })
  readonly #ringMisses = this.#meter.createCounter('holdfast_ring_misses')
  #stop: () => void = () => {}

  commitFailed(operations: Iterable<Operation>): void {
    for (const operation of operations) this.#commitFailures.add(1, { operation })
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

  observe(gauges: Gauges): void {
    const queueDepth = this.#meter.createObservableGauge('holdfast_queue_depth')
    const unclaimable = this.#meter.createObservableGauge('holdfast_unclaimable_tasks')
    const streams = this.#meter.createObservableGauge('holdfast_streams')
    const instruments = [queueDepth, unclaimable, streams]
    const report = (result: { observe(gauge: (typeof instruments)[number], value: number): void }) => {
      result.observe(queueDepth, gauges.queueDepth())
      result.observe(unclaimable, gauges.unclaimableTasks())
      result.observe(streams, gauges.streams())
    }
    this.#meter.addBatchObservableCallback(report, instruments)
    this.#stop = () => this.#meter.removeBatchObservableCallback(report, instruments)
  }

  close(): void {
    this.#stop()
  }
}
