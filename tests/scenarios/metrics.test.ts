import { metrics } from '@opentelemetry/api'
import { expect, it } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { counterOf } from './counters.ts'
import { onEachStore } from './world.ts'

const names = [
  'holdfast_commit_failures_total',
  'holdfast_late_emits_total',
  'holdfast_tasks_total',
  'holdfast_queue_depth',
  'holdfast_flush_seconds_count',
  'holdfast_flush_seconds_sum',
  'holdfast_flush_seconds_bucket',
  'holdfast_streams',
  'holdfast_ring_misses_total',
  'holdfast_unclaimable_tasks',
  'holdfast_hooks_total',
  'holdfast_hooks_owed',
  'holdfast_events_total',
  'holdfast_slow_readers_total',
]

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('every metric is in the text from the start, as 0', async () => {
    const runtime = await world().open()
    for (const name of names) expect([name, await counterOf(runtime, name)]).toEqual([name, 0])
    for (const status of ['completed', 'failed', 'cancelled']) {
      expect(await counterOf(runtime, 'holdfast_tasks_total', { status })).toBe(0)
    }
    for (const operation of ['accept', 'start', 'emit', 'step', 'cancel', 'end']) {
      expect(await counterOf(runtime, 'holdfast_commit_failures_total', { operation })).toBe(0)
    }
    const text = (await runtime.metricsText()) ?? ''
    expect(text).toMatch(/^# TYPE holdfast_tasks_total counter$/m)
    expect(text).toMatch(/^# TYPE holdfast_streams gauge$/m)
    expect(text).toMatch(/^# TYPE holdfast_flush_seconds histogram$/m)
    expect(text).toMatch(/^holdfast_flush_seconds_bucket\{le="0.0005"\} 0$/m)
    expect(text).toMatch(/^holdfast_flush_seconds_bucket\{le="5"\} 0$/m)
    expect(text).toMatch(/\n$/)
  })

  it('how many nodes there are and what the store takes is told, where it can be', async () => {
    const runtime = await world().open()
    expect(await counterOf(runtime, 'holdfast_nodes')).toBe(1)
    const bytes = counterOf(runtime, 'holdfast_store_bytes')
    if (kind === 'memory') await expect(bytes).rejects.toThrow('not in the text')
    else expect(await bytes).toBeGreaterThan(10_000)
  })

  it('what happens is counted, each runtime for itself', async () => {
    const here = world()
    const runtime = await here.open({ agents: { slow: untilStopped } })
    await Promise.all(
      ['a', 'b'].map(async (thread) => runtime.wait((await runtime.spawn({ thread, run: () => 1 })).id)),
    )
    const { id } = await runtime.run({ thread: 'a', agent: 'slow', prompt: 'go' })
    await runtime.run({ thread: 'a', agent: 'slow', prompt: 'next' })
    await here.clock.advance(1_000)
    await here.quiet()
    expect(await counterOf(runtime, 'holdfast_tasks_total', { status: 'completed' })).toBe(2)
    expect(await counterOf(runtime, 'holdfast_queue_depth')).toBe(1)
    // Two tasks of three events each; a run that started with its message, and one that waits.
    expect(await counterOf(runtime, 'holdfast_events_total')).toBe(10)
    const flushes = await counterOf(runtime, 'holdfast_flush_seconds_count')
    expect(flushes).toBeGreaterThan(0)
    expect(await counterOf(runtime, 'holdfast_flush_seconds_bucket', { le: '+Inf' })).toBe(flushes)
    await runtime.cancel(id)
    await runtime.wait(id)
    expect(await counterOf(runtime, 'holdfast_tasks_total', { status: 'cancelled' })).toBe(1)
    const other = await world().open()
    expect(await counterOf(other, 'holdfast_tasks_total')).toBe(0)
  })
})

it('metrics that are given are used, and have a text only if they come with one', async () => {
  const meter = metrics.getMeter('elsewhere')
  const mute = createRuntime({ store: 'memory:', metrics: { meter } })
  expect(await mute.metricsText()).toBeUndefined()
  const text = async () => 'what was counted\n'
  const reading = createRuntime({ store: 'memory:', metrics: { meter, text } })
  expect(await reading.metricsText()).toBe('what was counted\n')
  await Promise.all([mute.close(), reading.close()])
})
