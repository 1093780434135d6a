import pino from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type AgentContext, type CreateRuntimeOptions, createRuntime, failed, type Logger } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { forever } from '../../scenarios/attempts.ts'
import { gate } from '../../scenarios/world.ts'

type Line = readonly [facts: Record<string, unknown>, message: string]

/** A runtime of one agent, and what it says at the levels that a server writes. */
function logged(agent: (ctx: AgentContext) => unknown, options: Partial<CreateRuntimeOptions> = {}) {
  const lines: Line[] = []
  const note = (facts: object, message: string) => void lines.push([facts as Record<string, unknown>, message])
  const log: Logger = { debug() {}, info: note, warn: note, error: note }
  const runtime = createRuntime({ store: 'memory:', agents: { agent }, log, ...options })
  const said = (message: string) => lines.filter(([, text]) => text === message).map(([facts]) => facts)
  return { runtime, said, lines }
}

async function failureOf(agent: (ctx: AgentContext) => unknown): Promise<Record<string, unknown>[]> {
  const { runtime, said } = logged(agent)
  const { id } = await runtime.run({ thread: 'log', agent: 'agent', prompt: 'go' })
  await runtime.wait(id)
  await runtime.close()
  return said('a task has failed')
}

describe('the log of a task that has failed', () => {
  it('shows where its code threw, and why', async () => {
    const facts = await failureOf(() => {
      throw new TypeError('no such page', { cause: new Error('the disk is gone') })
    })
    expect(facts).toEqual([
      {
        task: 'bg_0',
        agent: 'agent',
        code: 'agent_error',
        err: {
          type: 'TypeError',
          message: 'no such page',
          stack: expect.stringMatching(
            /^TypeError: no such page\n.*operators-log\.test\.ts.*\ncaused by: Error: the disk/s,
          ),
        },
      },
    ])
  })

  it('shows in the lines of a server what kind of error it was', async () => {
    const [facts] = await failureOf(() => {
      throw new TypeError('no such page')
    })
    const written: unknown[] = []
    const log = pino({ base: null }, { write: (line: string) => void written.push(JSON.parse(line)) })
    log.warn(facts, 'a task has failed')
    expect(written).toMatchObject([{ err: { type: 'TypeError', message: 'no such page' } }])
  })

  it('can be put into a text', async () => {
    const [facts] = await failureOf(() => {
      throw new TypeError('no such page')
    })
    expect(`${facts?.['err'] as Error}`).toMatch(/^TypeError: no such page\n/)
    const [bare] = await failureOf(() => failed('no such page'))
    expect(`${bare?.['err'] as Error}`).toBe('no such page')
  })

  it('shows nothing that an error brings beside its message and stack', async () => {
    const [facts] = await failureOf(() => {
      throw Object.assign(new Error('refused'), { requestBodyValues: { prompt: 'what nobody else may read' } })
    })
    expect(JSON.stringify(facts)).not.toContain('nobody else')
  })

  it('is short, however long its error is, and has a line for what is no error at all', async () => {
    const [long] = await failureOf(() => {
      throw new Error('x'.repeat(10_000_000))
    })
    expect(JSON.stringify(long).length).toBeLessThan(100_000)
    const hostile = new Error('seen')
    Object.defineProperty(hostile, 'stack', { get: () => JSON.parse('no JSON') as unknown })
    for (const thrown of [null, 'a text', { odd: true }, hostile]) {
      const [facts] = await failureOf(() => Promise.reject(thrown))
      expect(facts).toMatchObject({ task: 'bg_0', code: 'agent_error', err: { message: expect.any(String) } })
    }
  })

  it('shows what the code of a task said of its failure, and that it ran out of time', async () => {
    expect(await failureOf(() => failed('no such page'))).toMatchObject([{ err: { message: 'no such page' } }])
    const { runtime, said } = logged(forever, { graceMs: 0 })
    const { id } = await runtime.run({ thread: 'log', agent: 'agent', prompt: 'go', timeoutMs: 1 })
    await runtime.wait(id)
    await runtime.close()
    expect(said('a task has failed')).toMatchObject([
      { code: 'timeout', err: { message: expect.stringMatching(/1 ms/) } },
    ])
  })

  it('has no line for a task that was cancelled, whatever its code threw then', async () => {
    const started = gate()
    const { runtime, said } = logged(async ({ signal }) => {
      started.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new Error('The connection was closed')
    })
    const { id } = await runtime.run({ thread: 'log', agent: 'agent', prompt: 'go' })
    await started.opened
    await runtime.cancel(id)
    expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    await runtime.close()
    expect(said('a task has failed')).toEqual([])
  })
})

it('the log shows that a node drains, what it hands over, and that it is closed', async () => {
  const { runtime, said } = logged(forever)
  const { id } = await runtime.run({ thread: 'log', agent: 'agent', prompt: 'go' })
  await vi.waitFor(async () => expect((await runtime.get(id))?.status).toBe('running'))
  await runtime.close({ drainMs: 0 })
  expect(said('draining')).toEqual([{ executing: 1, drainMs: 0 }])
  expect(said('a task is handed over')).toEqual([{ task: id }])
  expect(said('drained')).toHaveLength(1)
})

describe('the log of an outage', () => {
  it('has one line for each thing that is tried again and again, and one for each of the next outage', async () => {
    const clock = manualClock()
    const inner = memoryStore({ clock })
    let isAway = false
    const away = () => Promise.reject(new HoldfastError('store_unavailable', 'no connection is left'))
    const claim: Store['claim'] = (query) => (isAway ? away() : inner.claim(query))
    const { runtime, lines } = logged(forever, { store: { ...faultyStore(inner), claim }, clock })
    await runtime.opened()
    const outage = async () => {
      const before = lines.length
      isAway = true
      await clock.advance(30_000)
      isAway = false
      await clock.advance(30_000)
      return lines.slice(before).map(([, message]) => message)
    }
    const said = await outage()
    expect(said).toEqual([...new Set(said)])
    expect(said).toContain('looking for work failed; it is tried again')
    expect(said).toContain('the count could not be seen to; tried again every 1000 ms')
    expect(await outage()).toEqual(said)
    await runtime.close({ drainMs: 0 })
  })
})
