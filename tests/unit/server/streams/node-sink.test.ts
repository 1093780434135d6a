import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NodeSink } from '../../../../src/server/streams/node-sink.ts'

const kib = 1024

/** A response under way, and the client's end of its connection, which reads when it is told to. */
async function opened(): Promise<{ sink: NodeSink; outgoing: ServerResponse; client: Socket }> {
  const http = createServer()
  const asked = new Promise<ServerResponse>((resolve) => http.on('request', (_request, response) => resolve(response)))
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve)
  })
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.pause()
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  onTestFinished(() => {
    client.destroy()
    http.closeAllConnections()
    http.close()
  })
  const outgoing = await asked
  outgoing.writeHead(200)
  return { sink: new NodeSink(outgoing), outgoing, client }
}

/** Writes until nothing more goes into the kernel's buffers; what it returns waits for room again. */
async function fill(sink: NodeSink): Promise<{ drained: Promise<void> }> {
  for (;;) {
    if (sink.write(Buffer.alloc(64 * kib))) continue
    let isDrained = false
    const drained = sink.drained().then(() => {
      isDrained = true
    })
    await turns(50)
    if (!isDrained) return { drained }
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn()
}

describe("Node's response as a sink", () => {
  it('says stop when its reader does not keep up, and drains when it does', async () => {
    const { sink, client } = await opened()
    const { drained } = await fill(sink)
    expect(sink.backlog).toBeGreaterThan(0)
    expect(sink.backlog).toBeLessThan(256 * kib)
    client.resume()
    await drained
    expect(sink.backlog).toBe(0)
  })

  it('is flushed when the operating system has taken all of it', async () => {
    const { sink, client } = await opened()
    const { drained } = await fill(sink)
    expect(sink.isFlushed).toBe(false)
    client.resume()
    await drained
    expect(sink.isFlushed).toBe(true)
  })

  it('shows no progress while its reader takes nothing, though more is written', async () => {
    const { sink } = await opened()
    await fill(sink)
    const { taken, backlog } = sink
    await turns(20)
    sink.write(Buffer.from('more'))
    expect(sink.taken).toBe(taken)
    expect(sink.backlog).toBeGreaterThan(backlog)
  })

  it('shows the progress of a slow reader within one large write', async () => {
    const { sink, client } = await opened()
    sink.write(Buffer.alloc(16 * kib * kib))
    await turns(20)
    const { taken, backlog } = sink
    client.resume()
    while (sink.taken === taken) await nextTurn()
    client.pause()
    expect(sink.backlog).toBe(backlog)
  })

  it.each([
    ['is cut', ({ sink }: { sink: NodeSink }) => sink.cut()],
    ['is left by its client', ({ client }: { client: Socket }) => client.resetAndDestroy()],
  ])('wakes whoever waits for it, and is harmless after, when it %s', async (_title, close) => {
    const { sink, client } = await opened()
    const closed = new Promise<void>((resolve) => sink.onClosed(resolve))
    const { drained } = await fill(sink)
    close({ sink, client })
    await Promise.all([closed, drained])
    expect(sink.isClosed).toBe(true)
    expect(sink.write(Buffer.from('late'))).toBe(false)
    await sink.drained()
    sink.end()
    sink.cut()
  })

  it('is watched until its reader has taken the rest', async () => {
    const { sink, client } = await opened()
    let isClosed = false
    const closed = new Promise<void>((resolve) => sink.onClosed(resolve)).then(() => {
      isClosed = true
    })
    await fill(sink)
    sink.end()
    await turns(20)
    expect(isClosed).toBe(false)
    client.resume()
    await closed
  })

  it('tells at once that its client left before it was made', async () => {
    const { outgoing, client } = await opened()
    const gone = new Promise((resolve) => outgoing.on('close', resolve))
    client.resetAndDestroy()
    await gone
    let isClosed = false
    new NodeSink(outgoing).onClosed(() => {
      isClosed = true
    })
    expect(isClosed).toBe(true)
  })
})
