import { bytesText, durationText, numberText, rateText } from './figure-text.ts'
import { meanOf, perSecond, type Sample, total } from './metrics-text.ts'
import type { Reading } from './read-system.ts'

/** One figure with what it means. A figure that the server does not tell has no value. */
export interface Fact {
  readonly name: string
  readonly value?: string
  readonly note: string
  /** More of it than there should be. */
  readonly isBad?: boolean
}

export function factsOf(readings: readonly Reading[]): Fact[] {
  const now = readings.at(-1)?.samples ?? []
  const before = readings.at(-2)?.samples
  const count = (name: string) => total(now, name)
  // It takes two readings.
  const soon = readings.length < 2 && count('holdfast_events_total') !== undefined ? '…' : undefined
  const unclaimable = count('holdfast_unclaimable_tasks')
  const failures = count('holdfast_commit_failures_total')
  const flush = meanOf(now, 'holdfast_flush_seconds', before) ?? meanOf(now, 'holdfast_flush_seconds')
  return [
    fact('Store size', bytesText(count('holdfast_store_bytes')), 'What the store takes on disk'),
    fact('Nodes', numberText(count('holdfast_nodes')), 'Processes that share the store'),
    fact('Queue depth', numberText(count('holdfast_queue_depth')), 'Tasks accepted and not started'),
    fact('Streams', numberText(count('holdfast_streams')), 'Readers that follow a log on this node'),
    fact('Events per second', rateText(ratesOf(readings).at(-1)) ?? soon, 'Written by this node'),
    fact('Time of a commit', durationText(flush), 'Mean, until it is on disk'),
    fact('Slow readers', numberText(count('holdfast_slow_readers_total')), 'Cut off; each comes back by itself'),
    {
      ...fact('Failed commits', numberText(failures), 'Refused by the store since the start'),
      isBad: (failures ?? 0) > 0,
    },
    {
      ...fact('Unclaimable tasks', numberText(unclaimable), 'Of agents that this node does not have'),
      isBad: (unclaimable ?? 0) > 0,
    },
  ]
}

/** Events per second between each two readings. */
export function ratesOf(readings: readonly Reading[]): number[] {
  return readings.flatMap((reading, at) => {
    const before = readings[at - 1]
    if (!before?.samples || !reading.samples) return []
    const [now, then] = [reading.samples, before.samples].map((samples) => total(samples, 'holdfast_events_total'))
    return perSecond(now, then, reading.at - before.at) ?? []
  })
}

const statuses = ['completed', 'failed', 'cancelled'] as const

/** Tasks that ended on this node, by how. */
export function endedOf(samples: readonly Sample[]) {
  return statuses.map((status) => ({ status, count: total(samples, 'holdfast_tasks_total', { status }) ?? 0 }))
}

function fact(name: string, value: string | undefined, note: string): Fact {
  return { name, note, ...(value !== undefined && { value }) }
}
