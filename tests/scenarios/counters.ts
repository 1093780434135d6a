import { metrics } from '@opentelemetry/api'
import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'

/** Collects when it is asked, and at no other time. */
class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/**
 * Keeps what runtimes of this process count, for those made after this call. Answers with a function that reads the sum
 * of a counter, over all its labels but for those given.
 */
export function keepCounters(): (name: string, labels?: Readonly<Record<string, string>>) => Promise<number> {
  const reader = new PulledReader()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  return async (name, labels = {}) => {
    const { resourceMetrics } = await reader.collect()
    const counters = resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .filter((metric) => metric.dataPointType === DataPointType.SUM && metric.descriptor.name === name)
    const points = counters.flatMap((counter) => [...counter.dataPoints])
    const wanted = points.filter(({ attributes }) =>
      Object.entries(labels).every(([label, value]) => attributes[label] === value),
    )
    return wanted.reduce((sum, { value }) => sum + Number(value), 0)
  }
}
