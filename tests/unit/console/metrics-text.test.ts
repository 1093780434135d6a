import { describe, expect, it } from 'vitest'
import { meanOf, parseMetrics, perSecond, total } from '../../../console/src/views/system/metrics-text.ts'

const text = `# HELP holdfast_tasks_total Tasks that ended on this node
# TYPE holdfast_tasks_total counter
holdfast_tasks_total{status="completed"} 3 1700000000000
holdfast_tasks_total{status="failed"} 1
holdfast_queue_depth 0
holdfast_flush_seconds_bucket{le="+Inf"} 4
holdfast_flush_seconds_sum 0.02
holdfast_flush_seconds_count 4
odd{text="a \\"b\\" \\\\ c"} +Inf
not a line
`

describe('the text of metrics', () => {
  const samples = parseMetrics(text)

  it('is read line by line, without comments', () => {
    expect(samples).toHaveLength(7)
    expect(samples.at(-1)).toEqual({ name: 'odd', labels: { text: 'a "b" \\ c' }, value: Number.POSITIVE_INFINITY })
  })

  it('tells sums, and apart from nothing what it does not tell', () => {
    expect(total(samples, 'holdfast_tasks_total')).toBe(4)
    expect(total(samples, 'holdfast_tasks_total', { status: 'failed' })).toBe(1)
    expect(total(samples, 'holdfast_queue_depth')).toBe(0)
    expect(total(samples, 'holdfast_nodes')).toBeUndefined()
  })

  it('tells the mean of a histogram, since its beginning or an earlier reading', () => {
    expect(meanOf(samples, 'holdfast_flush_seconds')).toBeCloseTo(0.005)
    expect(meanOf(samples, 'holdfast_flush_seconds', samples)).toBeUndefined()
  })

  it('tells how fast a counter grows, but not over a restart', () => {
    expect(perSecond(30, 10, 2000)).toBe(10)
    expect(perSecond(3, 10, 2000)).toBeUndefined()
    expect(perSecond(3, undefined, 2000)).toBeUndefined()
  })
})
