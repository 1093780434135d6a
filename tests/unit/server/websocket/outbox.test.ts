import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Outbox } from '../../../../src/server/websocket/outbox.ts'
import { HeldSocket } from './held-socket.ts'

const kib = 1024

function opened(isOpen = () => true): { socket: HeldSocket; outbox: Outbox } {
  const socket = new HeldSocket()
  return { socket, outbox: new Outbox(socket, isOpen) }
}

/** Both ends of a connection whose client reads when it is told to. */
async function connected(): Promise<{ socket: Socket; client: Socket }> {
  const server = createServer()
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.pause()
  const socket = await accepted
  socket.on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  return { socket, client }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}

describe('an outbox', () => {
  it('writes all that is pushed in one turn in one go, in order', async () => {
    const { socket, outbox } = opened()
    for (const text of ['a', 'b', 'c']) outbox.push(Buffer.from(text))
    await nextTurn()
    expect(socket.writes.map(String)).toEqual(['abc'])
  })

  it('has one write under way, and joins what came meanwhile', async () => {
    const { socket, outbox } = opened()
    for (const text of ['a', 'b', 'c']) {
      outbox.push(Buffer.from(text))
      await nextTurn()
    }
    expect(socket.writes.map(String)).toEqual(['a'])
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['a', 'bc'])
  })

  it('counts what was taken when it was taken', async () => {
    const { socket, outbox } = opened()
    outbox.push(Buffer.alloc(10))
    await nextTurn()
    expect([outbox.waitingBytes, outbox.takenBytes]).toEqual([10, 0])
    await socket.release()
    expect([outbox.waitingBytes, outbox.takenBytes]).toEqual([0, 10])
  })

  it('shows the progress of a slow reader within one large write', async () => {
    const { socket, client } = await connected()
    const outbox = new Outbox(socket, () => true)
    outbox.push(Buffer.alloc(16 * kib * kib))
    await turns(20)
    const { progress } = outbox
    client.resume()
    while (outbox.progress === progress) await nextTurn()
    client.pause()
    expect(outbox.takenBytes).toBe(0)
  })

  it('shows no progress while its reader takes nothing, whatever is written meanwhile', async () => {
    const { socket } = await connected()
    const outbox = new Outbox(socket, () => true)
    outbox.push(Buffer.alloc(16 * kib * kib))
    await turns(20)
    const { progress } = outbox
    outbox.push(Buffer.alloc(kib))
    // As `ws` does for a ping.
    socket.write(Buffer.alloc(6))
    await turns(20)
    expect(outbox.progress).toBe(progress)
  })

  it('shows the progress of a write behind what else was not taken', async () => {
    const { socket, client } = await connected()
    const outbox = new Outbox(socket, () => true)
    socket.write(Buffer.alloc(16 * kib * kib))
    outbox.push(Buffer.alloc(16 * kib * kib))
    await turns(20)
    client.resume()
    for (let count = 0; count < 4; count += 1) {
      const { progress } = outbox
      while (outbox.progress === progress) await nextTurn()
    }
  })

  it('lets waiters in one after the other, and never holds more than 1 MiB', async () => {
    const { socket, outbox } = opened()
    const order: number[] = []
    let most = 0
    const all = Array.from({ length: 20 }, (_, index) =>
      outbox.whenRoom(() => {
        order.push(index)
        outbox.push(Buffer.alloc(256 * kib))
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

  it('takes a frame that is larger than all the room there is', async () => {
    const { socket, outbox } = opened()
    await outbox.whenRoom(() => outbox.push(Buffer.alloc(3 * 1024 * kib)))
    await nextTurn()
    expect(outbox.hasRoom).toBe(false)
    await socket.release()
    expect(outbox.hasRoom).toBe(true)
  })

  it('hands over what is left when it ends, and lets waiters go', async () => {
    const { socket, outbox } = opened()
    outbox.push(Buffer.alloc(2048 * kib))
    await nextTurn()
    outbox.push(Buffer.from('rest'))
    const waiting = outbox.whenRoom()
    outbox.end()
    outbox.push(Buffer.from('late'))
    await waiting
    await socket.release()
    expect(socket.writes.slice(1).map(String)).toEqual(['rest'])
  })

  it('lets go of what was not handed over when it is dropped', async () => {
    const { socket, outbox } = opened()
    outbox.push(Buffer.from('first'))
    await nextTurn()
    outbox.push(Buffer.from('rest'))
    outbox.drop()
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['first'])
    expect(outbox.waitingBytes).toBe(0)
  })

  it('writes nothing after the other side has closed', async () => {
    let isOpen = true
    const { socket, outbox } = opened(() => isOpen)
    outbox.push(Buffer.from('first'))
    await nextTurn()
    outbox.push(Buffer.from('rest'))
    isOpen = false
    await socket.release()
    expect(socket.writes.map(String)).toEqual(['first'])
    expect(outbox.isClosed).toBe(true)
  })

  describe('with a long message', () => {
    it('makes no more of it than is written at once', async () => {
      const { socket, outbox } = opened()
      const long = longMessage(100)
      outbox.push(long.frames)
      await nextTurn()
      expect(long.madeCount()).toBe(2)
      for (let count = 2; count < 100; count += 2) {
        expect(long.madeCount()).toBe(count)
        expect(outbox.waitingBytes).toBe(64 * kib)
        await socket.release()
      }
      await socket.release()
      expect(Buffer.concat(socket.writes)).toEqual(Buffer.concat(longMessage(100).all))
      expect(outbox.takenBytes).toBe(100 * 32 * kib)
    })

    it('puts nothing between its frames, and what was pushed after it behind them', async () => {
      const { socket, outbox } = opened()
      outbox.push(Buffer.from('before'))
      outbox.push(longMessage(5).frames)
      outbox.push(longMessage(3).frames)
      await nextTurn()
      outbox.push(Buffer.from('after'))
      for (let count = 0; count < 10; count += 1) await socket.release()
      const { all } = longMessage(5)
      const whole = Buffer.concat([Buffer.from('before'), ...all, ...all.slice(0, 3), Buffer.from('after')])
      expect(Buffer.concat(socket.writes).equals(whole)).toBe(true)
    })

    it('has no room until all of it was taken or is on its way', async () => {
      const { socket, outbox } = opened()
      outbox.push(longMessage(6).frames)
      expect(outbox.hasRoom).toBe(false)
      const order: string[] = []
      const waiting = outbox.whenRoom(() => order.push('room'))
      await nextTurn()
      await socket.release()
      expect([outbox.hasRoom, order]).toEqual([false, []])
      await socket.release()
      await socket.release()
      await waiting
      expect([outbox.hasRoom, order]).toEqual([true, ['room']])
    })

    it('hands over what is before it when it ends, and nothing of what is after it', async () => {
      const { socket, outbox } = opened()
      outbox.push(Buffer.alloc(64 * kib))
      await nextTurn()
      outbox.push(Buffer.from('before'))
      const long = longMessage(100)
      outbox.push(long.frames)
      outbox.push(Buffer.from('after'))
      outbox.end()
      await socket.release()
      expect(socket.writes.slice(1).map(String)).toEqual(['before'])
      expect(long.madeCount()).toBe(0)
    })

    it('hands over nothing when it ends in the middle of it', async () => {
      const { socket, outbox } = opened()
      const long = longMessage(100)
      outbox.push(long.frames)
      outbox.push(Buffer.from('after'))
      await nextTurn()
      outbox.end()
      for (let count = 0; count < 3; count += 1) await socket.release()
      expect(socket.writes).toHaveLength(1)
      expect([long.madeCount(), outbox.hasRoom, outbox.waitingBytes]).toEqual([2, true, 0])
    })
  })
})

/** A message of frames of 32 KiB. */
function longMessage(count: number) {
  const all = Array.from({ length: count }, (_, index) => Buffer.alloc(32 * kib, index))
  let madeCount = 0
  const frames = (function* () {
    for (const frame of all) {
      madeCount += 1
      yield frame
    }
  })()
  return { frames, all, madeCount: () => madeCount }
}
