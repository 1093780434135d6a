import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../../src/runtime/log-entry.ts'
import { Attachment, type AttachmentEnd } from '../../../../src/server/websocket/attachment.ts'
import { Outbox } from '../../../../src/server/websocket/outbox.ts'
import { HeldSocket } from './held-socket.ts'

const entry = (seq: number, type = 'custom', length = 10): LogEntry => ({
  seq,
  type,
  text: JSON.stringify({ seq, text: 'x'.repeat(length) }),
})

/** A place in a log that the test fills. */
class Script {
  readonly isOver = false
  asked = 0
  isClosed = false
  #batches: (readonly LogEntry[] | Error)[]

  constructor(batches: (readonly LogEntry[] | Error)[]) {
    this.#batches = batches
  }

  async next(): Promise<readonly LogEntry[] | undefined> {
    this.asked += 1
    const batch = this.#batches.shift()
    if (batch instanceof Error) throw batch
    return this.isClosed ? undefined : batch
  }

  close(): void {
    this.isClosed = true
  }
}

function attached(batches: (readonly LogEntry[] | Error)[]) {
  const socket = new HeldSocket()
  const outbox = new Outbox(socket, () => true)
  const source = new Script(batches)
  const ends: AttachmentEnd[] = []
  const attachment = new Attachment({ source, outbox, id: 1, onEnd: (end) => ends.push(end) })
  return { socket, outbox, source, ends, attachment }
}

const large = (count: number) => Array.from({ length: count }, (_, n) => [entry(n + 1, 'custom', 250_000)])

describe('an attachment', () => {
  it('asks for no more than there is room for', async () => {
    const { socket, source } = attached(large(20))
    await nextTurn()
    expect(source.asked).toBe(4)
    await socket.release()
    expect(source.asked).toBe(5)
  })

  it('pushes nothing after it was stopped, though it has events in hand', async () => {
    // Alone it asks only when there is room. Beside others, room can go while it waits for the log.
    const { socket, outbox, attachment, ends } = attached([[entry(1, 'custom', 250_000)], [entry(2)]])
    outbox.push(Buffer.alloc(1024 * 1024))
    await nextTurn()
    attachment.stop()
    await socket.release()
    await socket.release()
    expect(outbox.takenBytes).toBe(1024 * 1024)
    expect(ends).toEqual([])
  })

  it('tells an end from a log that was closed', async () => {
    const ended = attached([[entry(1), entry(2, 'task.completed')]])
    const closed = attached([[entry(1)]])
    await nextTurn()
    expect(ended.ends).toEqual([{ kind: 'ended' }])
    expect(closed.ends).toEqual([{ kind: 'closed' }])
  })

  it('tells what went wrong with the log, once', async () => {
    const error = new Error('gone')
    const { ends, source } = attached([[entry(1)], error])
    await nextTurn()
    expect(ends).toEqual([{ kind: 'failed', error }])
    expect(source.isClosed).toBe(true)
  })

  it('reads no further once nobody can be written to', async () => {
    const { outbox, source } = attached(large(20))
    await nextTurn()
    outbox.drop()
    await nextTurn()
    expect(source.asked).toBeLessThanOrEqual(5)
    expect(source.isClosed).toBe(true)
  })
})
