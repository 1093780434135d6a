import { ValueType } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  MeterProvider,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { flushSeconds } from '../runtime/metrics.ts'
import type { MetricsPort } from '../runtime/node-options.ts'

/** Metrics of one runtime, kept in this process and read as text of Prometheus. It opens no port. */
export function prometheusMetrics(): Required<MetricsPort> {
  // As a reader alone: the server it brings along is never started.
  const reader = new PrometheusExporter({ preventServerStart: true })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('holdfast')
  const [withoutTargetInfo, withoutScopeInfo] = [true, true]
  const serializer = new PrometheusSerializer('', false, undefined, withoutTargetInfo, withoutScopeInfo)
  return {
    meter,
    // A gauge that cannot be read is missing from the text; what else was counted is not withheld for it.
    text: async () => serializer.serialize(withFlushes((await reader.collect()).resourceMetrics)),
  }
}

/** An SDK does not show a histogram before its first value; a dashboard wants to see that there was none. */
function withFlushes(found: ResourceMetrics): ResourceMetrics {
  const metrics = found.scopeMetrics.flatMap((scope) => scope.metrics)
  const scope = found.scopeMetrics[0]?.scope ?? { name: 'holdfast' }
  if (metrics.some(({ descriptor }) => descriptor.name === flushSeconds.name)) return found
  return { ...found, scopeMetrics: [{ scope, metrics: [...metrics, noFlushes()] }] }
}

function noFlushes(): HistogramMetricData {
  const { name, description, unit, boundaries } = flushSeconds
  const buckets = { boundaries: [...boundaries], counts: Array.from({ length: boundaries.length + 1 }, () => 0) }
  const value = { buckets, sum: 0, count: 0 }
  return {
    descriptor: { name, description, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: [{ startTime: [0, 0], endTime: [0, 0], attributes: {}, value }],
  }
}
