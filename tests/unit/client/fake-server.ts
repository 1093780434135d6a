import type { SocketConstructor } from '../../../src/client/socket-source.ts'
import type { ThreadEvent } from '../../../src/client/thread-event.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import { isTerminalEvent } from '../../../src/core/event.ts'
import { sseFrame, sseRetry } from '../../../src/protocol/event-stream.ts'
import type { ClientFrame } from '../../../src/protocol/frames.ts'
import { toProblem } from '../../../src/protocol/problem.ts'
import { FakeSocket } from './fake-socket.ts'

/** How long a connection lives: so many bytes of a stream, so many frames of a socket. Below 0 it is never answered. */
export type Life = number

export interface Reading {
  readonly after: number
  readonly task?: string | undefined
  readonly types?: readonly string[] | undefined
}

/** Somebody who is given the log as it grows. */
export interface Follower extends Reading {
  give(events: readonly ThreadEvent[]): void
  end(): void
  /** The thread was deleted. */
  erased(): void
}

const away = new HoldfastError('store_unavailable', 'away')
const encoder = new TextEncoder()
// No divisor of the length of a character, so that pieces end within some. Large ones make a long log affordable.
const smallPieceBytes = 5
const largePieceBytes = 65_537

/** The network and one server with one thread, in memory, whose connections die as planned. */
export class FakeServer {
  readonly log: ThreadEvent[] = []
  first = 1
  /** The lives of connections to come, in turn; once there are none, they live on. */
  lives: Life[] = []
  isReady = true
  isAuthorised = true
  /** Whether the thread can neither be read nor followed. */
  isStoreAway = false
  hasSockets = true
  /** Whether an answer to a POST is lost after it took effect. */
  losesAnswers = 0
  readonly requests: {
    readonly method: string
    readonly path: string
    readonly headers: Headers
    readonly body: string
  }[] = []
  readonly opened: string[] = []
  readonly frames: ClientFrame[] = []
  readonly followers = new Set<Follower>()
  readonly drops = new Set<() => void>()
  readonly accepted = new Map<string, object>()
  isFrozen = false

  get head(): number {
    return this.first - 1 + this.log.length
  }

  get followerCount(): number {
    return this.followers.size
  }

  append(event: ThreadEvent): void {
    this.log.push(event)
    for (const follower of [...this.followers]) this.#offer(follower, [event])
  }

  /** Lets nothing through, in either direction, and breaks no connection. */
  freeze(): void {
    this.isFrozen = true
  }

  /** Whatever was sent meanwhile is lost. */
  thaw(): void {
    this.isFrozen = false
  }

  /** Deletes what is in the log. Its numbers go on. */
  erase(): void {
    this.first = this.head + 1
    this.log.length = 0
    for (const follower of [...this.followers]) {
      this.followers.delete(follower)
      follower.erased()
    }
  }

  /** Breaks every connection. */
  cut(): void {
    for (const drop of [...this.drops]) drop()
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input)
    const { method = 'GET', signal } = init
    const headers = new Headers(init.headers)
    const body = (init.body as string | undefined) ?? ''
    this.requests.push({ method, path: url.pathname + url.search, headers, body })
    await Promise.resolve()
    signal?.throwIfAborted()
    if (this.isFrozen) throw new TypeError('nobody is there')
    if (!this.isReady && url.pathname === '/readyz') return problem(new HoldfastError('draining', 'not now'))
    if (!this.isAuthorised) return problem(new HoldfastError('unauthenticated', 'no'))
    if (method === 'POST') return this.#accept(headers, body)
    if (url.pathname.endsWith('/events')) return this.#stream(url.searchParams, signal)
    if (/^\/v1\/threads\/[^/]+$/.test(url.pathname)) return this.#snapshot()
    return Response.json({})
  }

  get WebSocket(): SocketConstructor {
    const server = this
    return class extends FakeSocket {
      constructor(url: string) {
        super(server, url)
      }
    }
  }

  follow(follower: Follower): void {
    this.followers.add(follower)
    const isOver = this.log.some((event) => event.seq <= follower.after && isEndOf(follower.task, event))
    if (isOver) {
      this.followers.delete(follower)
      return follower.end()
    }
    this.#offer(follower, this.log)
  }

  #offer(follower: Follower, events: readonly ThreadEvent[]): void {
    if (!this.followers.has(follower)) return
    const wanted = events.filter((event) => event.seq > follower.after && passes(follower, event))
    follower.give(wanted)
    if (!wanted.some((event) => isEndOf(follower.task, event))) return
    this.followers.delete(follower)
    follower.end()
  }

  refusal(after: number): HoldfastError | undefined {
    if (this.isStoreAway) return away
    if (after > this.head) return new HoldfastError('offset_ahead', 'ahead', { facts: { head: this.head } })
    if (after < this.first - 1) return new HoldfastError('offset_gone', 'gone', { facts: { first: this.first } })
    return undefined
  }

  #accept(headers: Headers, body: string): Response {
    const key = headers.get('idempotency-key') ?? ''
    const isReplayed = this.accepted.has(key)
    const task = this.accepted.get(key) ?? { id: `bg_${this.accepted.size}`, ...(JSON.parse(body) as object) }
    this.accepted.set(key, task)
    if (this.losesAnswers > 0) {
      this.losesAnswers -= 1
      throw new TypeError('the connection broke')
    }
    return Response.json(task, { status: 202, headers: isReplayed ? { 'idempotency-replayed': 'true' } : {} })
  }

  #snapshot(): Response {
    if (this.isStoreAway) return problem(away)
    const life = this.lives.shift() ?? Number.POSITIVE_INFINITY
    if (life < 0) throw new TypeError('nobody is there')
    const { head, first } = this
    const snapshot = { thread: 't', head, first, watchers: 0, messages: [], tasks: [], live: [], questions: [] }
    return Response.json(snapshot)
  }

  #stream(query: URLSearchParams, signal: AbortSignal | null | undefined): Response {
    let life = this.lives.shift() ?? Number.POSITIVE_INFINITY
    if (life < 0) throw new TypeError('nobody is there')
    // The live events of all threads are asked for without a number, and nothing is replayed.
    const after = Number(query.get('after') ?? this.head)
    const refusal = query.has('after') ? this.refusal(after) : undefined
    if (refusal) return problem(refusal)
    const task = query.get('task') ?? undefined
    const isOver = this.log.some((event) => event.seq <= after && isEndOf(task, event))
    if (isOver) return new Response(null, { status: 204 })
    const followers = this.followers
    let close = () => {}
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const end = (isClean: boolean) => {
          if (!this.drops.delete(close)) return
          followers.delete(follower)
          if (isClean) controller.close()
          else controller.error(new TypeError('the connection broke'))
        }
        close = () => end(false)
        this.drops.add(close)
        const write = (text: string) => {
          if (!this.drops.has(close) || this.isFrozen) return
          const bytes = encoder.encode(text)
          const pieceBytes = bytes.length < 1000 ? smallPieceBytes : largePieceBytes
          const sent = bytes.subarray(0, life)
          for (let at = 0; at < sent.length; at += pieceBytes) controller.enqueue(sent.slice(at, at + pieceBytes))
          life -= bytes.length
          if (life <= 0) end(life % 2 === 0)
        }
        const follower: Follower = {
          after,
          task,
          types: query.get('types')?.split(','),
          give: (events) => {
            for (const event of events) write(sseFrame({ seq: event.seq, text: JSON.stringify(event) }))
          },
          end: () => end(true),
          erased: () => end(true),
        }
        signal?.addEventListener('abort', close)
        write(sseRetry)
        if (this.drops.has(close)) this.follow(follower)
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

function passes({ task, types }: Reading, event: ThreadEvent): boolean {
  if (isEndOf(task, event)) return true
  return (task === undefined || event.task === task) && (types === undefined || types.includes(event.type))
}

function isEndOf(task: string | undefined, event: ThreadEvent): boolean {
  return task !== undefined && event.task === task && isTerminalEvent(event)
}

function problem(error: HoldfastError): Response {
  const body = toProblem(error, 'request-7')
  return Response.json(body, { status: body.status, headers: { 'content-type': 'application/problem+json' } })
}
