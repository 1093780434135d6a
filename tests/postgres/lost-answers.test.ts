import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { EventDraft } from '../../src/core/event.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  accepting,
  away,
  commit,
  commitOne,
  deltas,
  headOf,
  home,
  logOf,
  numbersOf,
  offerOf,
  pending,
  unit,
  upTo,
} from '../../src/testing/store-suite/builders.ts'
import { type NetworkProxy, startProxy } from './harness/proxy.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

const statement = 'commit_units'

let schema: TestSchema
let proxy: NetworkProxy
let stores: Store[]

beforeEach(async () => {
  schema = testSchema()
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port))
  stores = []
})

afterEach(async () => {
  proxy.accept()
  proxy.resume()
  for (const store of stores) await store.close()
  await proxy.close()
  await schema.drop()
})

async function open(url = proxy.through(schema.url), options: { readonly lateMs?: number } = {}): Promise<Store> {
  const store = postgresStore({ url, ...options })
  stores.push(store)
  await store.open()
  return store
}

/** A store that has written, so that its lane is known. */
async function openWritten(): Promise<Store> {
  const store = await open()
  await commit(store, unit({ events: deltas(1) }))
  return store
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}

describe('a commit whose answer is lost', () => {
  it.each([1, 2, 3])('is made once and answered, when the answer is lost %i times', async (times) => {
    const store = await openWritten()
    const lost = proxy.loseAnswers(statement, times)
    expect((await commitOne(store, unit({ events: deltas(2), rev: 0 }))).first).toBe(2)
    expect(lost.count).toBe(times)
    expect((await commitOne(store, unit({ events: deltas(1), rev: 1 }))).first).toBe(4)
    expect(numbersOf(await logOf(store))).toEqual(upTo(4))
  })

  it('gets the verdicts of the first time, refusals and results that were taken too', async () => {
    const store = await openWritten()
    await commit(store, accepting(pending('bg_0')))
    const ended = accepting({ ...pending('bg_1'), status: 'completed' })
    await commit(store, ended)
    proxy.loseAnswers(statement, 1)
    const [stale, taken] = await store.commit([unit({ rev: 7 }), unit({ take: [pending('bg_1').id] })])
    expect(stale).toEqual({ committed: false, reason: { code: 'stale' } })
    expect(taken).toMatchObject({ committed: true, taken: ['bg_1'] })
  })

  it('is made once when the connection is cut before the batch arrives, and it arrives after all, late', async () => {
    const store = await openWritten()
    const delayed = proxy.delayNext(statement)
    expect((await commitOne(store, unit({ events: deltas(2) }))).first).toBe(2)
    await delayed.held
    await delayed.arrive()
    expect(await headOf(store)).toBe(3)
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(4)
  })

  it('is not made by a sending that arrives after later commits', async () => {
    const store = await openWritten()
    const delayed = proxy.delayNext(statement)
    await commit(store, unit({ events: deltas(2) }))
    await commit(store, unit({ events: deltas(3) }))
    await delayed.arrive()
    expect(await headOf(store)).toBe(6)
  })

  it('fails as it would have failed, and never comes true later', async () => {
    const store = await openWritten()
    await commit(store, accepting(pending('bg_0')))
    const delayed = proxy.delayNext(statement)
    const wrong = store.commit([accepting(pending('bg_0'))])
    await expect(wrong).rejects.toThrow('tasks_id_key')
    // Another node removes what was wrong with it, and then its first sending arrives.
    await commit(await open(schema.url), unit({ operation: 'erase', rev: 0, erase: true }))
    await delayed.arrive()
    expect(await store.task(pending('bg_0').id)).toBeUndefined()
    await commit(store, accepting(pending('bg_0')))
  })

  it('is answered when the network is back, however long it was gone', async () => {
    const store = await openWritten()
    proxy.loseAnswers(statement, 1)
    const answer = commitOne(store, unit({ events: deltas(1) }))
    await expect.poll(() => schema.query('SELECT FROM holdfast.lanes WHERE batch = 2')).toHaveLength(1)
    proxy.refuse()
    await expect(store.task(pending('bg_0').id)).rejects.toMatchObject({ code: 'store_unavailable' })
    proxy.accept()
    expect((await answer).first).toBe(2)
    await expect.poll(() => headOf(store).catch(() => 'down')).toBe(2)
  })

  it('is answered after a stall that the node takes for the loss of the answer', async () => {
    const store = await openWritten()
    await store.renew('node_1', 2_000)
    await commit(store, unit())
    proxy.stall()
    const countBefore = proxy.connectionCount
    const answer = commitOne(store, unit({ events: deltas(1) }))
    await expect.poll(() => proxy.connectionCount).toBeGreaterThan(countBefore)
    proxy.resume()
    expect((await answer).first).toBe(2)
    expect(await headOf(store)).toBe(2)
  })

  it('is given up when the store is closed, and says so', async () => {
    const store = await openWritten()
    const lost = proxy.loseAnswers(statement, 1000)
    const answer = store.commit([unit({ events: deltas(1) })])
    const refusal = expect(answer).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect.poll(() => lost.count).toBeGreaterThan(0)
    await store.close()
    await refusal
  })
})

describe('a commit that cannot be sent', () => {
  it('is refused at once as unavailable, and the store goes on when the network is back', async () => {
    const store = await openWritten()
    proxy.refuse()
    // The first may have been on its way; from then on it is known that nothing can be sent.
    await expect(store.commit([])).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.commit([unit({ events: deltas(1) })])).rejects.toMatchObject({ code: 'store_unavailable' })
    proxy.accept()
    await expect.poll(() => store.commit([]).catch(() => 'down')).toEqual([])
    expect((await commitOne(store, unit({ events: deltas(1) }))).first).toBe(2)
  })
})

describe('commits over a network that loses answers all the time', () => {
  it('are made once each, in order, by two nodes at once', async () => {
    const nodes = [await openWritten(), await open()]
    const seen = new Map<number, string>()
    let lostCount = 0
    await Promise.all(
      nodes.map(async (store, node) => {
        for (let n = 0; n < 40; n++) {
          const lost = n % 2 === 0 ? proxy.loseAnswers(statement, 1) : undefined
          const data = JSON.stringify({ node, n })
          const { first } = await commitOne(store, unit({ events: [{ type: 'custom', data }] }))
          expect(seen.has(first)).toBe(false)
          seen.set(first, data)
          lostCount += lost?.count ?? 0
        }
      }),
    )
    expect(lostCount).toBeGreaterThan(20)
    const [store = await open()] = nodes
    const log = await logOf(store)
    expect(numbersOf(log)).toEqual(upTo(81))
    for (const { seq, data } of log.slice(1)) expect(data).toBe(seen.get(seq))
  })
})

describe('a commit whose end does not arrive', () => {
  it('keeps its thread from others no longer than a commit may take, and is made once', async () => {
    const [frozen, other] = [await open(), await open(schema.url)]
    for (const store of [frozen, other]) {
      await store.renew('node', 1_500)
      await commit(store, unit({ events: deltas(1) }))
    }
    const { held } = proxy.withholdEnd('withheld')
    const event = { ...deltas(1)[0], data: '"withheld"' } as EventDraft
    const withheld = frozen.commit([unit({ events: [event] })])
    await held
    await expect.poll(() => commit(other, unit({ events: deltas(1) })).catch(codeOf)).not.toBe('thread_locked')
    expect(await withheld).toMatchObject([{ committed: true }])
    const log = await logOf(other)
    expect(numbersOf(log)).toEqual(upTo(4))
    expect(log.filter(({ data }) => data === event.data)).toHaveLength(1)
  })
})

describe('a claim whose end does not arrive', () => {
  it('keeps its threads from others no longer than a third of the lease', async () => {
    const [frozen, other] = [await open(), await open(schema.url)]
    await commit(other, accepting(pending('bg_0')))
    await other.renew('node', 1_500)
    // Opened before it is known how long a lease is.
    await offerOf(frozen)
    await frozen.renew('withheld', 1_500)
    const { held } = proxy.withholdEnd('withheld')
    const claiming = offerOf(frozen, { node: 'withheld' }).catch(codeOf)
    await held
    const write = () => commit(other, unit({ events: deltas(1) })).catch(codeOf)
    // A third of the lease that is taken for granted before one is known would be five seconds.
    await expect.poll(write, { timeout: 4_500 }).not.toBe('thread_locked')
    await claiming
  })
})

describe('a commit whose fate is unknown while another program holds its thread', () => {
  it('is given up, so that other threads go on, and never comes true later', async () => {
    const store = await openWritten()
    await store.renew('node', 1_500)
    const { held, arrive } = proxy.delayNext(statement)
    const letGo = await schema.hold('SELECT FROM holdfast.threads FOR UPDATE')
    const committing = store.commit([unit({ events: deltas(2) })])
    await held
    await expect(committing).rejects.toMatchObject({ code: 'thread_locked' })
    await commit(store, unit({ thread: away, events: deltas(1) }))
    await letGo()
    await arrive()
    expect(await headOf(store)).toBe(1)
    expect((await commitOne(store, unit({ events: deltas(1) }))).first).toBe(2)
  })
})

describe('a commit that cannot be settled', () => {
  it('is late at once when the server cannot be reached', async () => {
    const store = await open(proxy.through(schema.url), { lateMs: 60_000 })
    await commit(store, unit({ events: deltas(1) }))
    const { held } = proxy.delayNext(statement)
    const { promise: late, resolve } = Promise.withResolvers<void>()
    let lateCount = 0
    const committing = store.commit([unit({ events: deltas(1) })], () => {
      lateCount += 1
      resolve()
    })
    await held
    proxy.refuse()
    await late
    proxy.accept()
    expect(await committing).toMatchObject([{ committed: true, first: 2 }])
    expect(lateCount).toBe(1)
  })
})

describe('a read that is not answered', () => {
  it('is given up as late as a commit, so that those behind it are answered over another connection', async () => {
    const store = await open(proxy.through(schema.url), { lateMs: 200 })
    await commit(store, accepting(pending('bg_0')))
    const { id } = pending('bg_0')
    const [task, page] = [await store.task(id), await store.events(home, { after: 0, limit: 9 })]
    proxy.stall()
    const unanswered = { code: 'store_unavailable' }
    await Promise.all([
      expect(store.task(id)).rejects.toMatchObject(unanswered),
      expect(store.events(home, { after: 0, limit: 9 })).rejects.toMatchObject(unanswered),
    ])
    proxy.resume()
    await expect.poll(() => store.task(id).catch(() => 'down')).toEqual(task)
    await expect.poll(() => store.events(home, { after: 0, limit: 9 }).catch(() => 'down')).toEqual(page)
  })
})
