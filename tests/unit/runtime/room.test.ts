import { expect, it } from 'vitest'
import type { ThreadKey } from '../../../src/core/id.ts'
import { Room } from '../../../src/runtime/room.ts'

const kib = 1024

interface Crowd {
  isDown: boolean
  isCrowded: boolean
  isLocked: (thread: ThreadKey) => boolean
}

const thread = 'owner/home' as ThreadKey

function roomIn(crowd: Partial<Crowd>): { room: Room; writer: Crowd } {
  const writer = { isDown: false, isCrowded: false, isLocked: () => false, ...crowd }
  return { room: new Room(writer, thread), writer }
}

/** Whether a wait that begins now is over within this turn. */
async function isThere(room: Room): Promise<boolean> {
  let isOver = false
  void room.wait().then(() => {
    isOver = true
  })
  await Promise.resolve()
  return isOver
}

it('is there for one task until 512 KiB of it wait to be written', async () => {
  const { room } = roomIn({})
  room.take(511 * kib)
  expect(await isThere(room)).toBe(true)
  room.take(1 * kib)
  expect(await isThere(room)).toBe(false)
})

it('ends at a turn of 32 KiB while a whole batch waits, and is there for who has emitted less', async () => {
  const { room } = roomIn({ isCrowded: true })
  room.take(31 * kib)
  expect(await isThere(room)).toBe(true)
  room.take(1 * kib)
  expect(await isThere(room)).toBe(false)
})

it('is there again when what was emitted is written, as far as the crowd leaves any', async () => {
  const { room, writer } = roomIn({ isCrowded: true })
  room.take(100 * kib)
  const order: string[] = []
  const waiting = room.wait().then(() => order.push('goes on'))
  room.give(32 * kib)
  await Promise.resolve()
  order.push('is still crowded')
  writer.isCrowded = false
  room.give(32 * kib)
  await waiting
  expect(order).toEqual(['is still crowded', 'goes on'])
})

it('is overrun by more than 8 MiB that nobody waited for, but for what gathered while the store was down', () => {
  const { room, writer } = roomIn({ isDown: true })
  room.take(9 * kib * kib)
  expect(room.isOverrun).toBe(false)
  writer.isDown = false
  room.take(9 * kib * kib)
  expect(room.isOverrun).toBe(true)
})

it('is not overrun by what gathered while the thread was locked', () => {
  const { room, writer } = roomIn({ isLocked: (asked) => asked === thread })
  room.take(9 * kib * kib)
  expect(room.isOverrun).toBe(false)
  writer.isLocked = () => false
  room.take(9 * kib * kib)
  expect(room.isOverrun).toBe(true)
})
