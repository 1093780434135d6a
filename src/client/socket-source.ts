import { HoldfastError } from '../core/errors.ts'
import type { ClientFrame, ServerFrame } from '../protocol/frames.ts'
import { Channel } from './channel.ts'
import type { ClientClock } from './clock.ts'
import type { ConnectionMonitor, Line } from './connection.ts'
import { isPassing, retryAfterMs, toError } from './failure.ts'
import type { Http } from './http.ts'
import { connect, idleLink, type Link, type LinkAction, type LinkInput, type Probe } from './link.ts'
import { Machine } from './machine.ts'
import { Silence } from './silence.ts'
import type { Sink, Source, Wanted } from './source.ts'

/** What the client needs of a WebSocket. That of browsers, of Node and of `ws` have it. */
export interface SocketLike {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

/** What makes a WebSocket, as the one of browsers does. */
export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike

export interface SocketSourceParts {
  readonly url: string
  readonly token: string | undefined
  readonly WebSocket: SocketConstructor
  readonly http: Http
  readonly clock: ClientClock
  readonly random: () => number
  readonly monitor: ConnectionMonitor
  /** WebSockets do not come through. Whoever follows is told `lost`, and is to be sent elsewhere. */
  onFallBack(): void
}

// A proxy that does not know WebSockets may leave one unanswered.
const openMsMax = 10_000

/** Follows logs over one WebSocket, opened while anybody follows. */
export class SocketSource implements Source {
  readonly #parts: SocketSourceParts
  readonly #machine: Machine<Link, LinkInput, LinkAction>
  readonly #channels = new Map<string, Channel>()
  /** The channels that are attached on the socket there is, by the id of their attach. */
  readonly #attached = new Map<unknown, Channel>()
  #socket: SocketLike | undefined
  #silence: Silence | undefined
  #timer: { cancel(): void } | undefined
  #frameId = 0
  #retryInMs = 0

  constructor(parts: SocketSourceParts) {
    this.#parts = parts
    this.#machine = new Machine(idleLink, connect, (action) => this.#act(action))
  }

  follow(wanted: Wanted, sink: Sink): () => void {
    const key = keyOf(wanted)
    const channel = this.#channels.get(key) ?? new Channel(wanted)
    this.#channels.set(key, channel)
    const member = channel.join(wanted, sink)
    this.#send({ type: 'want' })
    if (this.#machine.state.phase === 'open') this.#attach(channel)
    return () => {
      if (!channel.leave(member) || !channel.isEmpty) return
      if (channel.id !== undefined) this.#say(channel.detachFrame(this.#nextId()))
      this.#prune(channel)
    }
  }

  /** Tries again now, if it waits to. */
  hasten(): void {
    this.#send({ type: 'hasten' })
  }

  close(): void {
    this.#send({ type: 'close' })
  }

  #send(input: LinkInput): void {
    this.#machine.send(input)
    this.#parts.monitor.set(this, this.#line())
  }

  #line(): Line | undefined {
    const { phase, failures } = this.#machine.state
    if (phase === 'open' || phase === 'lingering') return { is: 'live' }
    if (phase === 'waiting') return { is: 'waiting', ms: this.#retryInMs }
    if (phase === 'failed') return { is: 'refused' }
    return phase === 'opening' || phase === 'probing' ? { is: 'connecting', hasFailed: failures > 0 } : undefined
  }

  #act(action: LinkAction): void {
    switch (action.do) {
      case 'open':
        return this.#open()
      case 'drop':
        return this.#drop()
      case 'probe':
        return void this.#probe()
      case 'cancelTimer':
        return this.#timer?.cancel()
      case 'attachAll':
        for (const channel of this.#channels.values()) this.#attach(channel)
        return
      case 'fallBack':
        this.#parts.onFallBack()
        return this.#loseAll()
      case 'failAll':
        return this.#loseAll(action.error)
      case 'wait':
        this.#retryInMs = action.ms
        this.#timer = this.#parts.clock.setTimer(action.ms, () => this.#send({ type: 'due' }))
    }
  }

  #loseAll(error?: HoldfastError): void {
    const channels = [...this.#channels.values()]
    this.#channels.clear()
    for (const channel of channels) channel.lose(error)
  }

  #open(): void {
    const { WebSocket, clock, url, token } = this.#parts
    const protocols = ['holdfast.v1', ...(token === undefined ? [] : [`bearer.${base64Url(token)}`])]
    try {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`, protocols)
      this.#socket = socket
      this.#timer = clock.setTimer(openMsMax, () => this.#lost(socket))
      this.#listen(socket)
    } catch {
      // A page may not be let open one at all; what the probe finds decides.
      this.#send({ type: 'closed', random: this.#parts.random() })
    }
  }

  #listen(socket: SocketLike): void {
    const isCurrent = () => this.#socket === socket
    socket.addEventListener('open', () => {
      if (!isCurrent()) return
      this.#timer?.cancel()
      this.#silence = new Silence(
        this.#parts.clock,
        () => this.#lost(socket),
        () => this.#say({ type: 'ping', id: this.#nextId() }),
      )
      this.#send({ type: 'opened' })
    })
    socket.addEventListener('message', ({ data }) => {
      if (isCurrent()) this.#hear(socket, String(data))
    })
    socket.addEventListener('close', () => this.#lost(socket))
    socket.addEventListener('error', () => this.#lost(socket))
  }

  #lost(socket: SocketLike): void {
    if (this.#socket !== socket) return
    this.#drop()
    this.#send({ type: 'closed', random: this.#parts.random() })
  }

  #drop(): void {
    this.#timer?.cancel()
    this.#silence?.stop()
    const socket = this.#socket
    this.#socket = undefined
    for (const channel of this.#attached.values()) {
      channel.id = undefined
      channel.isStale = true
    }
    this.#attached.clear()
    socket?.close()
  }

  #hear(socket: SocketLike, text: string): void {
    this.#silence?.heard()
    let frame: ServerFrame
    try {
      frame = JSON.parse(text) as ServerFrame
    } catch {
      return this.#lost(socket)
    }
    this.#send({ type: 'heard' })
    const channel = this.#attached.get(frame.id)
    if (channel) this.#take(channel, frame, text.length)
  }

  #take(channel: Channel, frame: ServerFrame, size: number): void {
    switch (frame.type) {
      case 'attached':
        channel.attached(frame.head)
        break
      case 'watching':
        channel.attached(0)
        break
      case 'event':
        channel.event(frame.event, size)
        break
      case 'end':
        channel.end()
        break
      case 'detached':
        // Nobody asked for it: the thread was deleted. Its log goes on with the next number, as if nothing had been.
        channel.lose(new HoldfastError('offset_gone', 'The thread was deleted'))
        break
      case 'unwatched':
        // Nobody asked for it: something is missing of all threads.
        channel.lose()
        break
      case 'error':
        if (channel.refuse(toError(frame.problem))) this.#attach(channel)
        break
      default:
    }
    this.#prune(channel)
  }

  #attach(channel: Channel): void {
    const id = this.#nextId()
    this.#attached.delete(channel.id)
    this.#attached.set(id, channel)
    this.#say(channel.attachFrame(id))
  }

  /** Lets go of a channel that nobody shares any more, and of the socket with the last of them. */
  #prune(channel: Channel): void {
    const key = keyOf(channel)
    if (!channel.isEmpty || this.#channels.get(key) !== channel) return
    this.#channels.delete(key)
    this.#attached.delete(channel.id)
    if (this.#channels.size === 0) this.#send({ type: 'unwant' })
  }

  #say(frame: ClientFrame): void {
    try {
      this.#socket?.send(JSON.stringify(frame))
    } catch {
      // It is closing, which is told by its close.
    }
  }

  #nextId(): number {
    this.#frameId += 1
    return this.#frameId
  }

  async #probe(): Promise<void> {
    const found = await this.#probed()
    this.#send({ type: 'probed', found, random: this.#parts.random() })
  }

  /** Asks whether the server takes work, then something that only a principal may ask. */
  async #probed(): Promise<Probe> {
    const { http } = this.#parts
    try {
      await http.json('/readyz')
      await http.json('/v1/limits')
      return { is: 'ready' }
    } catch (thrown) {
      // A request that nobody gives up rejects with nothing else.
      const error = thrown as HoldfastError
      return isPassing(error) ? { is: 'unready', retryAfterMs: retryAfterMs(error) } : { is: 'refused', error }
    }
  }
}

/** No id of a thread has a slash in it, and none is empty, which stands for all threads. */
function keyOf({
  thread = '',
  task = '',
}: {
  readonly thread?: string | undefined
  readonly task?: string | undefined
}): string {
  return `${thread}/${task}`
}

function base64Url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text))
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
