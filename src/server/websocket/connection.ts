import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { HoldfastError } from '../../core/errors.ts'
import type { ServerFrame } from '../../protocol/frames.ts'
import { parseJson } from '../../protocol/json.ts'
import { toProblem } from '../../protocol/problem.ts'
import { parseClientFrame } from '../../protocol/schemas/client-frame.ts'
import type { Timer } from '../../runtime/clock.ts'
import type { ServerParts } from '../server-parts.ts'
import type { StreamPlace, Watched } from '../streams/streams.ts'
import { answerFrame, type FrameTarget } from './answer-frame.ts'
import { Attachments } from './attachments.ts'
import { serverMessage } from './encode-frames.ts'
import { idOf } from './frame-id.ts'
import { FrameQueue, type Received } from './frame-queue.ts'
import { Outbox } from './outbox.ts'
import type { SharedSnapshots } from './shared-snapshots.ts'

export interface ConnectionParts {
  readonly server: ServerParts
  readonly ws: WebSocket
  readonly socket: Duplex
  readonly principal: string
  readonly place: StreamPlace
  /** Of all connections. */
  readonly snapshots: SharedSnapshots
  readonly traceparent?: string
  onClosed(): void
}

const goingAway = 1001
const tryAgainLater = 1013
// A beat comes every 6 s, so a ping every 18 s.
const beatsPerPing = 3
const pingsMissedMax = 2
// A pong comes after what was written before its ping, so whoever is slow is given a ping more for as much.
const bytesPerPing = 256 * 1024
// Long enough that a reader which wakes up learns why it was given up.
const lingerMs = 60_000
// A pong that waits behind this much is of no use to anybody.
const pongBehindBytesMax = 64 * 1024

/**
 * One client. What it asks for is done in the order in which it asked; what it is attached to is carried beside that.
 * It owns nothing: when it goes, its attachments go, and no task notices.
 */
export class Connection implements Watched {
  readonly #parts: ConnectionParts
  readonly #outbox: Outbox
  readonly #attachments: Attachments
  readonly #target: FrameTarget
  #hasLeft = false
  #linger: Timer | undefined
  #beats = 0
  #pingsMissed = 0
  #takenAtSign = 0

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    const { server, ws, socket, principal, snapshots, traceparent } = parts
    const runtime = server.runtime.as(principal)
    const outbox = new Outbox(socket, () => ws.readyState === WebSocket.OPEN)
    this.#outbox = outbox
    this.#attachments = new Attachments({
      runtime,
      principal,
      streams: server.streams,
      snapshots,
      outbox,
      send: (frame) => this.#send(frame),
      refuse: (frame, error) => this.#refuse(frame, error),
    })
    this.#target = { runtime, attachments: this.#attachments, ...(traceparent !== undefined && { traceparent }) }
    this.#listen()
    parts.place.watch(this)
  }

  get backlog(): number {
    return this.#outbox.waitingBytes
  }

  get taken(): number {
    return this.#outbox.progress
  }

  beat(): void {
    const { ws, server, principal } = this.#parts
    this.#beats += 1
    // While something waits, taking it is the sign of life; while its messages wait here, its pongs wait behind them.
    if (this.#beats % beatsPerPing !== 0 || this.#outbox.waitingBytes > 0 || ws.isPaused) return
    if (ws.readyState !== WebSocket.OPEN) return
    const bytesSinceSign = this.#outbox.takenBytes - this.#takenAtSign
    if (this.#pingsMissed >= pingsMissedMax + bytesSinceSign / bytesPerPing) {
      server.log.info({ principal }, 'a WebSocket is closed, because its client does not answer pings')
      return this.terminate()
    }
    this.#pingsMissed += 1
    ws.ping()
  }

  /** The server closes. */
  end(): void {
    this.#close(goingAway, 'The server is shutting down')
  }

  /** The reader takes nothing. */
  cut(): void {
    const { server } = this.#parts
    this.#outbox.drop()
    this.#close(tryAgainLater, 'Nothing was read for 30 s')
    this.#linger = server.clock.setTimer(lingerMs, () => this.terminate())
  }

  terminate(): void {
    this.#parts.ws.terminate()
  }

  #listen(): void {
    const { ws, socket, onClosed } = this.#parts
    const queue = new FrameQueue(ws, (received) => this.#handle(received))
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      this.#sign()
      queue.push({ data, isBinary })
    })
    ws.on('pong', () => this.#sign())
    ws.on('ping', (data: Buffer) => {
      this.#sign()
      if (socket.writableLength < pongBehindBytesMax) ws.pong(data)
    })
    // It has been answered with a close already, and nothing is wanted of it any more.
    ws.on('error', () => this.#leave())
    ws.on('close', () => {
      this.#linger?.cancel()
      this.#leave()
      onClosed()
    })
  }

  #sign(): void {
    this.#pingsMissed = 0
    this.#takenAtSign = this.#outbox.takenBytes
  }

  async #handle({ data, isBinary }: Received): Promise<void> {
    if (!this.#outbox.hasRoom) await this.#outbox.whenRoom()
    const text = isBinary ? '' : data.toString()
    try {
      if (isBinary) throw new HoldfastError('invalid_request', 'A frame is JSON as text, not binary')
      const value = parseJson(text, this.#parts.server.limits.jsonDepth)
      const answer = await answerFrame(parseClientFrame(value), this.#target)
      if (answer) this.#send(answer)
    } catch (error) {
      this.#refuse(leniently(text), error)
    }
  }

  #send(frame: ServerFrame): void {
    this.#outbox.push(serverMessage(frame))
  }

  #refuse(frame: unknown, error: unknown): void {
    const { log } = this.#parts.server
    const problem = toProblem(error, randomUUID())
    if (problem.status === 500) log.error({ requestId: problem.requestId, err: error }, 'a frame failed by a defect')
    this.#send({ type: 'error', ...idOf(frame), problem })
  }

  #close(code: number, reason: string): void {
    const { ws } = this.#parts
    this.#attachments.close()
    this.#outbox.end()
    this.#leave()
    ws.close(code, reason)
  }

  #leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#attachments.close()
    this.#outbox.drop()
    this.#parts.place.close()
  }
}

/** For the id alone: whoever sent what is refused for its form still waits for an answer under that id. */
function leniently(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
