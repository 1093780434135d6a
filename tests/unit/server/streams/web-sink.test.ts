import { describe, expect, it } from 'vitest'
import { WebSink } from '../../../../src/server/streams/web-sink.ts'

const kib = 1024

describe('a web stream', () => {
  it('has room until 64 KiB wait in it, and again when its reader has taken some', async () => {
    const sink = new WebSink()
    const reader = sink.stream.getReader()
    expect(sink.write(new Uint8Array(63 * kib))).toBe(true)
    expect(sink.write(new Uint8Array(kib))).toBe(false)
    expect(sink.backlog).toBe(64 * kib)
    let isDrained = false
    const drained = sink.drained().then(() => {
      isDrained = true
    })
    expect(isDrained).toBe(false)
    await reader.read()
    await drained
    expect(sink.backlog).toBeLessThan(64 * kib)
  })

  it('shows what its reader takes of a large write', async () => {
    const sink = new WebSink()
    const reader = sink.stream.getReader()
    sink.write(new Uint8Array(256 * kib))
    const { taken, backlog } = sink
    await reader.read()
    expect(sink.taken).toBeGreaterThan(taken)
    expect(sink.backlog).toBeLessThan(backlog)
    expect(sink.backlog).toBeGreaterThan(200 * kib)
    const { taken: before } = sink
    sink.write(new Uint8Array(kib))
    expect(sink.taken).toBe(before)
  })

  it('hands on what was written before it ended', async () => {
    const sink = new WebSink()
    sink.write(Buffer.from('all'))
    sink.end()
    expect(await new Response(sink.stream).text()).toBe('all')
  })

  it('fails its reader when it is cut', async () => {
    const sink = new WebSink()
    sink.write(Buffer.from('some'))
    sink.cut()
    await expect(new Response(sink.stream).text()).rejects.toThrow('The stream was cut')
  })

  it.each([
    ['its reader leaves', (sink: WebSink) => void sink.stream.cancel()],
    ['it ends', (sink: WebSink) => sink.end()],
    ['it is cut', (sink: WebSink) => sink.cut()],
  ])('is closed once, and harmless after, when %s', async (_title, close) => {
    const sink = new WebSink()
    let closedCount = 0
    sink.onClosed(() => {
      closedCount += 1
    })
    sink.write(new Uint8Array(100 * kib))
    const drained = sink.drained()
    close(sink)
    await drained
    expect(sink.write(new Uint8Array(1))).toBe(false)
    await sink.drained()
    sink.end()
    sink.cut()
    expect(closedCount).toBe(1)
    expect(sink.isClosed).toBe(true)
  })
})
