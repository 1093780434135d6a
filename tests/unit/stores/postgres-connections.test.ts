import { describe, expect, it } from 'vitest'
import type { Connection } from '../../../src/stores/postgres/connection.ts'
import { Connections, Opener } from '../../../src/stores/postgres/connections.ts'
import { gate } from '../../scenarios/world.ts'

/** Connections of which none goes anywhere, and how many were lent at the same time. */
function pool(countMax: number) {
  const connection = { isLost: false, isSilent: false, onLost: () => {}, abandon: () => {}, close: async () => {} }
  const opener = new Opener(async () => ({ ...connection }) as unknown as Connection)
  const connections = new Connections(opener, countMax, 'a store')
  let lent = 0
  let lentMost = 0
  const use = (work: () => Promise<unknown>, isUrgent = false) =>
    connections.use(
      async () => {
        lent += 1
        lentMost = Math.max(lentMost, lent)
        await work()
        lent -= 1
      },
      { isUrgent },
    )
  return { connections, use, lentMost: () => lentMost }
}

// More than it takes to lend one.
const ticksMax = 40

async function pass(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
}

describe('connections that take turns', () => {
  it('are never more than they may be, whenever another one is asked for', async () => {
    for (let ticks = 0; ticks < ticksMax; ticks++) {
      const { use, lentMost } = pool(1)
      const [first, rest] = [gate(), gate()]
      const all = [use(() => first.opened), use(() => rest.opened)]
      first.open()
      await pass(ticks)
      all.push(use(() => rest.opened))
      await pass(ticksMax)
      rest.open()
      await Promise.all(all)
      expect(lentMost()).toBe(1)
    }
  })

  it('are listened to once each, however often they are lent', async () => {
    let listenerCount = 0
    const onLost = () => {
      listenerCount += 1
    }
    const connection = { isLost: false, isSilent: false, onLost, abandon: () => {}, close: async () => {} }
    const connections = new Connections(new Opener(async () => connection as unknown as Connection), 1, 'a store')
    for (let n = 0; n < 10; n++) await connections.use(async () => n)
    expect(listenerCount).toBe(1)
  })

  it('are lent to each that waits, also after work that failed', async () => {
    const { use } = pool(2)
    const done: number[] = []
    const all = Array.from({ length: 20 }, (_, n) =>
      use(async () => {
        done.push(n)
        if (n % 3 === 0) throw new Error('failed')
      }).catch(() => undefined),
    )
    await Promise.all(all)
    expect(done).toHaveLength(20)
  })

  it('are lent first to what is urgent', async () => {
    const { use } = pool(1)
    const held = gate()
    const done: string[] = []
    const all = [
      use(() => held.opened),
      use(async () => done.push('a')),
      use(async () => done.push('b')),
      use(async () => done.push('urgent'), true),
    ]
    held.open()
    await Promise.all(all)
    expect(done).toEqual(['urgent', 'a', 'b'])
  })

  it('are opened anew once they are retired, those that are lent when their work is done', async () => {
    const closed: number[] = []
    let openedCount = 0
    const open = async () => {
      const number = ++openedCount
      const close = async () => void closed.push(number)
      return { isLost: false, onLost: () => {}, close } as unknown as Connection
    }
    const connections = new Connections(new Opener(open), 2, 'a store')
    const held = gate()
    const lent = connections.use(() => held.opened)
    await connections.use(async () => {})
    connections.retire()
    expect(closed).toEqual([2])
    held.open()
    await lent
    expect(closed).toEqual([2, 1])
    await connections.use(async () => {})
    await connections.use(async () => {})
    expect([openedCount, closed]).toEqual([3, [2, 1]])
  })

  it('are refused to those that wait when they are closed', async () => {
    const { connections, use } = pool(1)
    const held = gate()
    const first = use(() => held.opened)
    const waiting = expect(use(async () => {})).rejects.toMatchObject({ code: 'store_unavailable' })
    await connections.close()
    await waiting
    held.open()
    await first
  })
})
