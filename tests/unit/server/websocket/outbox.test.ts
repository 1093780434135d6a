import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Outbox } from '../../../../src/server/websocket/outbox.ts'
import { HeldSocket } from './held-socket.ts'

const kib = 1024

function opened(isOpen = () => true): { socket: HeldSocket; outbox: Outbox } {
  const socket = new HeldSocket()
  return { socket, outbox: new Outbox(socket, isOpen) }
}

describe('an outbox', () => {
  it('writes all that is pushed in one turn in one go, in order', async () => {
    const { socket, outbox } = opened()
    outbox.push([Buffer.from('a'), Buffer.from('b')])
    outbox.push([Buffer.from('c')])
    await nextTurn()
    expect(socket.writes.map(String)).toEqual(['abc'])
  })

  it('has one write under way, and joins what came meanwhile', async () => {
    const { socket, outbox } = opened()
    for (const text of ['a', 'b', 'c']) {
      outbox.push([Buffer.from(text)])
      await nextTurn()
    }
    expect(socket.writes.map(String)).toEqual(['a'])
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['a', 'bc'])
  })

  it('counts what was taken when it was taken', async () => {
    const { socket, outbox } = opened()
    outbox.push([Buffer.alloc(10)])
    await nextTurn()
    expect([outbox.waitingBytes, outbox.takenBytes]).toEqual([10, 0])
    await socket.release()
    expect([outbox.waitingBytes, outbox.takenBytes]).toEqual([0, 10])
  })

  it('lets waiters in one after the other, and never holds more than 1 MiB', async () => {
    const { socket, outbox } = opened()
    const order: number[] = []
    let most = 0
    const all = Array.from({ length: 20 }, (_, index) =>
      outbox.whenRoom(() => {
        order.push(index)
        outbox.push([Buffer.alloc(256 * kib)])
        most = Math.max(most, outbox.waitingBytes)
      }),
    )
    await nextTurn()
    expect(order).toEqual([0, 1, 2, 3])
    for (let index = 0; index < 20; index += 1) {
      expect(socket.writableLength).toBe(256 * kib)
      await socket.release()
    }
    await Promise.all(all)
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index))
    expect(most).toBe(1024 * kib)
    expect(outbox.takenBytes).toBe(20 * 256 * kib)
  })

  it('takes a message that is larger than all the room there is', async () => {
    const { socket, outbox } = opened()
    await outbox.whenRoom(() => outbox.push([Buffer.alloc(3 * 1024 * kib)]))
    await nextTurn()
    expect(outbox.hasRoom).toBe(false)
    await socket.release()
    expect(outbox.hasRoom).toBe(true)
  })

  it('hands over what is left when it ends, and lets waiters go', async () => {
    const { socket, outbox } = opened()
    outbox.push([Buffer.alloc(2048 * kib)])
    await nextTurn()
    outbox.push([Buffer.from('rest')])
    const waiting = outbox.whenRoom()
    outbox.end()
    outbox.push([Buffer.from('late')])
    await waiting
    await socket.release()
    expect(socket.writes.slice(1).map(String)).toEqual(['rest'])
  })

  it('lets go of what was not handed over when it is dropped', async () => {
    const { socket, outbox } = opened()
    outbox.push([Buffer.from('first')])
    await nextTurn()
    outbox.push([Buffer.from('rest')])
    outbox.drop()
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['first'])
    expect(outbox.waitingBytes).toBe(0)
  })

  it('writes nothing after the other side has closed', async () => {
    let isOpen = true
    const { socket, outbox } = opened(() => isOpen)
    outbox.push([Buffer.from('first')])
    await nextTurn()
    outbox.push([Buffer.from('rest')])
    isOpen = false
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['first'])
    expect(outbox.isClosed).toBe(true)
  })
})
