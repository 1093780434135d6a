import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { Lease } from '../../../src/runtime/lease.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { gate } from '../../scenarios/world.ts'

type Renewal = 'held' | 'lapsed' | 'fails'

/** A store that other nodes share, whose renewals go as told. */
function storeOf(renew: Store['renew'], isShared = true): Store {
  return new Proxy(memoryStore(), {
    get(target, name) {
      if (name === 'renew') return renew
      return name === 'isShared' ? isShared : Reflect.get(target, name, target)
    },
  })
}

/** A lease of 9 s, and what it asked of the store and when. */
async function leaseOf(goes: (number: number) => Renewal, isShared = true) {
  const clock = manualClock(0)
  const renewedAt: number[] = []
  const found: string[] = []
  const store = storeOf(async () => {
    renewedAt.push(clock.now())
    const renewal = goes(renewedAt.length)
    if (renewal === 'fails') throw new HoldfastError('store_unavailable', 'The store is away')
    return { wasHeld: renewal === 'held' }
  }, isShared)
  const lease = new Lease({ store, clock, log: silentLogger, node: 'node_1', leaseMs: 9_000 })
  await lease.open({ onLapsed: async () => void found.push('lapsed'), onAway: () => void found.push('away') })
  return { lease, clock, renewedAt, found }
}

describe('the lease of a node', () => {
  it('is renewed three times while it lasts', async () => {
    const { lease, clock, renewedAt } = await leaseOf(() => 'held')
    await clock.advance(9_000)
    expect(renewedAt).toEqual([0, 3_000, 6_000, 9_000])
    expect(lease.isSteady).toBe(true)
    await lease.close()
    expect(clock.pendingTimerCount).toBe(0)
  })

  it('is renewed again soon after a renewal that failed', async () => {
    const { clock, renewedAt, found, lease } = await leaseOf((number) => ([2, 3].includes(number) ? 'fails' : 'held'))
    await clock.advance(8_000)
    expect(renewedAt).toEqual([0, 3_000, 3_500, 4_000, 7_000])
    expect(found).toEqual(['away', 'away'])
    await lease.close()
  })

  it('is steady from its first moment, and after a failure only when the next renewal finds it held', async () => {
    const { lease, clock } = await leaseOf((number) => (number === 2 ? 'fails' : 'held'))
    expect(lease.isSteady).toBe(true)
    await clock.advance(3_000)
    expect(lease.isSteady).toBe(false)
    await clock.advance(500)
    expect(lease.isSteady).toBe(false)
    await clock.advance(3_000)
    expect(lease.isSteady).toBe(true)
    await lease.close()
  })

  it('is not steady after it had run out, until the next renewal finds it held', async () => {
    const { lease, clock, found } = await leaseOf((number) => (number === 2 ? 'lapsed' : 'held'))
    await clock.advance(3_000)
    expect([lease.isSteady, found]).toEqual([false, ['lapsed']])
    await clock.advance(3_000)
    expect([lease.isSteady, found]).toEqual([true, ['lapsed']])
    await lease.close()
  })

  it('is always steady where nobody else can be', async () => {
    const { lease, clock } = await leaseOf((number) => (number === 2 ? 'fails' : 'lapsed'), false)
    await clock.advance(3_000)
    expect(lease.isSteady).toBe(true)
    await clock.advance(500)
    expect(lease.isSteady).toBe(true)
    await lease.close()
  })

  it('is given up after the renewal that was under way, never before it', async () => {
    const clock = manualClock(0)
    const [asked, goOn] = [gate(), gate()]
    const landed: number[] = []
    const store = storeOf(async (_node, leaseMs) => {
      const isSecond = landed.length === 1 && leaseMs > 0
      if (isSecond) asked.open()
      if (isSecond) await goOn.opened
      landed.push(leaseMs)
      return { wasHeld: true }
    })
    const lease = new Lease({ store, clock, log: silentLogger, node: 'node_1', leaseMs: 9_000 })
    await lease.open({ onLapsed: async () => {}, onAway: () => {} })
    await clock.advance(3_000)
    await asked.opened
    const closed = lease.close()
    goOn.open()
    await closed
    expect(landed).toEqual([9_000, 9_000, 0])
    expect(clock.pendingTimerCount).toBe(0)
  })
})
