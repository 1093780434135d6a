import { createParser } from 'eventsource-parser'
import { type Event, isTerminalEvent } from '../../core/event.ts'
import { systemClock } from '../../runtime/clock.ts'
import { digestOf, type StreamEnd, type Transport } from '../history/entry.ts'
import { type Frame, Socket } from './socket.ts'
import { type Problem, Refused, unanswered } from './wire-error.ts'

/** What is read: a thread, or one task of it, from a number on. */
export interface Place {
  readonly url: string
  readonly token: string
  readonly thread: string
  readonly task?: string
  readonly after: number
  readonly transport: Transport
  /** An answer that has not begun by then does not come. */
  readonly timeoutMs: number
}

/** A stream that is open. */
export interface Reading {
  /** Numbers and digests, in the order in which they came. */
  readonly events: readonly (readonly [seq: number, digest: string])[]
  /** The number of the last event that ended a task. */
  readonly ending: number | undefined
  /** `end` if the node said that nothing follows, `lost` if the connection went, `left` after `close`. */
  readonly ended: Promise<StreamEnd>
  readonly complaints: readonly string[]
  /** Called with each number as it comes. */
  onSeq(listener: (seq: number) => void): void
  close(): void
}

/** Opens a stream. Rejects with what is refused, or with `Unanswered`. */
export function openReading(place: Place): Promise<Reading> {
  return place.transport === 'ws' ? readSocket(place) : readSse(place)
}

class Tape implements Reading {
  readonly events: [number, string][] = []
  readonly complaints: string[] = []
  ending: number | undefined
  readonly ended: Promise<StreamEnd>
  readonly #end: (end: StreamEnd) => void
  readonly #leave: () => void
  #listener: (seq: number) => void = () => {}

  constructor(leave: () => void) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.#end = resolve
    this.#leave = leave
  }

  push(event: Event): void {
    this.events.push([event.seq, digestOf(event)])
    if (isTerminalEvent(event)) this.ending = event.seq
    this.#listener(event.seq)
  }

  end(how: StreamEnd): void {
    this.#end(how)
  }

  onSeq(listener: (seq: number) => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#end('left')
    this.#leave()
  }
}

async function readSse(place: Place): Promise<Reading> {
  const { url, token, thread, task, after, timeoutMs } = place
  const query = task === undefined ? '' : `?task=${task}`
  const leaving = new AbortController()
  const timer = systemClock.setTimer(timeoutMs, () => leaving.abort())
  try {
    const response = await fetch(`${url}/v1/threads/${thread}/events${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'last-event-id': String(after) },
      signal: leaving.signal,
    })
    if (response.status >= 400) throw new Refused((await response.json()) as Problem)
    const tape = new Tape(() => leaving.abort())
    void play(response, tape)
    return tape
  } catch (error) {
    if (error instanceof Refused) throw error
    return unanswered(error)
  } finally {
    timer.cancel()
  }
}

async function play(response: Response, tape: Tape): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, data }) => {
      const event = JSON.parse(data) as Event
      if (id !== String(event.seq)) tape.complaints.push(`the frame of ${event.seq} has the id ${id}`)
      tape.push(event)
    },
    onError: (error) => tape.complaints.push(`a frame cannot be read: ${error.message}`),
  })
  try {
    const body = response.body?.pipeThrough(new TextDecoderStream()) ?? []
    for await (const text of body) parser.feed(text)
    tape.end('end')
  } catch {
    // Cut off: by a dead node, by the line, or by whoever read.
    tape.end('lost')
  }
}

async function readSocket(place: Place): Promise<Reading> {
  const { url, token, thread, task, after, timeoutMs } = place
  const socket = await Socket.open(url, token, timeoutMs)
  const tape = new Tape(() => socket.drop())
  const attached = Promise.withResolvers<void>()
  const take = (frame: Frame) => {
    if (frame.type === 'attached') attached.resolve()
    else if (frame.type === 'error' && frame.problem) {
      attached.reject(new Refused(frame.problem))
      // Of one that was attached: the log could not be read on, and whoever reads comes back.
      tape.end(frame.problem.code === 'offset_gone' ? 'gone' : 'lost')
    } else if (frame.type === 'event' && frame.event) tape.push(frame.event)
    else if (frame.type === 'end' && task !== undefined) tape.end('end')
    // The thread was deleted.
    else if (frame.type === 'detached') tape.end('gone')
    else {
      tape.complaints.push(`a ${frame.type} came to an attachment`)
      tape.end('lost')
    }
  }
  const timer = systemClock.setTimer(timeoutMs, () => socket.drop())
  socket.follow({ type: 'attach', thread, after, ...(task !== undefined && { task }) }, take)
  void socket.closed.then(() => {
    tape.end('lost')
    attached.reject(new Error('The socket was closed'))
  })
  try {
    await attached.promise
    return tape
  } catch (error) {
    socket.drop()
    if (error instanceof Refused) throw error
    return unanswered(error)
  } finally {
    timer.cancel()
  }
}
