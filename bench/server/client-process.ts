// The client of the benchmarks: raw sockets, because a client that parses would be what is measured.

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { answerParent } from './child.ts'
import { sharedNow } from './shared-clock.ts'

interface Target {
  readonly url: string
  readonly path: string
}

interface Post extends Target {
  readonly body: unknown
}

const headers = { authorization: 'Bearer bench' }
const agent = new Agent({ keepAlive: true, maxSockets: 1024 })
// In the last frame of every run.
const marker = Buffer.from('"type":"task.completed"')
let idle: Socket[] = []

async function post({ url, path, body }: Post): Promise<{ status: number; text: string }> {
  const text = JSON.stringify(body)
  const sent = request(`${url}${path}`, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  })
  sent.end(text)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks)}`)
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }
}

async function get({ url, path }: Target): Promise<unknown> {
  const response = await fetch(`${url}${path}`, { headers })
  return response.json()
}

/** One SSE subscription on a socket of its own. */
class Subscriber {
  readonly socket: Socket
  readonly open: Promise<void>
  readonly done: Promise<void>
  readonly #until: Buffer
  #tail: Buffer = Buffer.alloc(0)
  onData: ((chunk: Buffer) => void) | undefined

  constructor({ url, path }: Target, until: Buffer = marker) {
    const { hostname, port, host } = new URL(url)
    this.#until = until
    this.socket = connect(Number(port), hostname)
    this.socket.setNoDelay(true)
    this.socket.write(
      `GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nauthorization: Bearer bench\r\n\r\n`,
    )
    const opened = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    this.open = opened.promise
    this.done = done.promise
    this.socket.on('error', done.reject)
    this.socket.on('data', (chunk: Buffer) => {
      opened.resolve()
      this.onData?.(chunk)
      if (this.#has(chunk)) done.resolve()
    })
  }

  #has(chunk: Buffer): boolean {
    if (chunk.includes(this.#until)) return true
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, this.#until.length)])
    this.#tail = chunk.subarray(-this.#until.length)
    return seam.includes(this.#until)
  }
}

async function subscribers(targets: readonly Target[]): Promise<Subscriber[]> {
  const opened: Subscriber[] = []
  for (let first = 0; first < targets.length; first += 100) {
    const some = targets.slice(first, first + 100).map((target) => new Subscriber(target))
    await Promise.all(some.map(({ open }) => open))
    opened.push(...some)
  }
  return opened
}

/** What a chunked body holds. */
function unchunked(raw: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = raw.indexOf('\r\n\r\n') + 4; at < raw.length; ) {
    const line = raw.indexOf('\r\n', at)
    const length = Number.parseInt(raw.subarray(at, line).toString(), 16)
    if (!length) break
    parts.push(raw.subarray(line + 2, line + 2 + length))
    at = line + 2 + length + 2
  }
  return Buffer.concat(parts)
}

function end(all: readonly Subscriber[]): void {
  for (const { socket } of all) socket.destroy()
}

async function attach({ target, given }: { target: Target; given: Post }): Promise<number> {
  const startedAt = performance.now()
  const subscriber = new Subscriber(target, Buffer.from('"type":"text.delta"'))
  await subscriber.open
  const posting = post(given)
  await subscriber.done
  const ms = performance.now() - startedAt
  await posting
  end([subscriber])
  return ms
}

answerParent({
  /** Writes the frames of a run to a file. */
  async record({ target, given, file }: { target: Target; given: Post; file: string }) {
    const chunks: Buffer[] = []
    const subscriber = new Subscriber(target)
    subscriber.onData = (chunk) => chunks.push(chunk)
    await subscriber.open
    await post(given)
    await subscriber.done
    end([subscriber])
    writeFileSync(file, unchunked(Buffer.concat(chunks)))
  },
  /** Milliseconds from the posts to the moment that every subscriber has had the last frame. */
  async fanOut({ targets, posts }: { targets: Target[]; posts: Post[] }) {
    const all = await subscribers(targets)
    const startedAt = performance.now()
    const posting = Promise.all(posts.map(post))
    await Promise.all(all.map(({ done }) => done))
    const ms = performance.now() - startedAt
    await posting
    end(all)
    return ms
  },
  /** Milliseconds until a fresh subscriber has had the last frame. */
  async replay(target: Target) {
    const startedAt = performance.now()
    const subscriber = new Subscriber(target)
    await subscriber.done
    const ms = performance.now() - startedAt
    end([subscriber])
    return ms
  },
  /** Milliseconds for `count` posts with so many in flight, each to the next of the paths. */
  async posts({ url, paths, body, count, inFlight }: Post & { paths: string[]; count: number; inFlight: number }) {
    let next = 0
    const startedAt = performance.now()
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        for (let n = next++; n < count; n = next++) await post({ url, path: paths[n % paths.length] as string, body })
      }),
    )
    return performance.now() - startedAt
  },
  async post(given: Post) {
    return JSON.parse((await post(given)).text) as unknown
  },
  get,
  /** Waits for a frame. */
  async seen({ target, until }: { target: Target; until: string }) {
    const subscriber = new Subscriber(target, Buffer.from(until))
    await subscriber.done
    end([subscriber])
  },
  /** Milliseconds from the connection to the first event, which a post causes once the subscriber is there. */
  attach,
  /** The same, and before it the snapshot of the thread, after whose head the subscriber begins: all that a client waits for. */
  async attachAnew({ thread, given }: { thread: Target; given: Post }) {
    const startedAt = performance.now()
    const { head } = (await get(thread)) as { head: number }
    const snapshotMs = performance.now() - startedAt
    const target = { url: thread.url, path: `${thread.path}/events?after=${head}` }
    return snapshotMs + (await attach({ target, given }))
  },
  /** Milliseconds from a post to a frame with `until` at a subscriber. */
  async until({ target, given, until }: { target: Target; given: Post; until: string }) {
    const subscriber = new Subscriber(target, Buffer.from(until))
    await subscriber.open
    const startedAt = performance.now()
    const posting = post(given)
    await subscriber.done
    const ms = performance.now() - startedAt
    await posting
    end([subscriber])
    return ms
  },
  /** Milliseconds that each event of a paced run was under way. */
  async latencies({ target, given }: { target: Target; given: Post }) {
    const found: number[] = []
    const subscriber = new Subscriber(target)
    await subscriber.open
    subscriber.onData = (chunk) => {
      const now = sharedNow()
      for (const [, at] of chunk.toString().matchAll(/"sentAt":([\d.]+)/g)) found.push(now - Number(at))
    }
    await post(given)
    await subscriber.done
    end([subscriber])
    return found
  },
  /** Opens subscribers that stay. */
  async hold({ targets }: { targets: Target[] }) {
    idle = (await subscribers(targets)).map(({ socket }) => socket)
  },
  release() {
    for (const socket of idle) socket.destroy()
    idle = []
  },
})
