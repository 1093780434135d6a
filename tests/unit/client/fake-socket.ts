import type { ClientFrame, FrameId, ServerFrame } from '../../../src/protocol/frames.ts'
import { toProblem } from '../../../src/protocol/problem.ts'
import type { FakeServer, Follower, Life } from './fake-server.ts'

const allThreads = { thread: '*' }

/** The WebSocket of a page whose one server is a fake. */
export class FakeSocket {
  readonly #server: FakeServer
  readonly #listeners = new Map<string, ((event: { data: unknown }) => void)[]>()
  #life: Life
  #isOpen = true
  readonly #attached = new Map<string, Follower>()
  readonly #drop = () => this.close()

  constructor(server: FakeServer, url: string) {
    this.#server = server
    this.#life = server.lives.shift() ?? Number.POSITIVE_INFINITY
    server.opened.push(url)
    queueMicrotask(() => {
      const { isFrozen, hasSockets, isAuthorised } = server
      if (this.#life < 0 || isFrozen || !hasSockets || !isAuthorised) return this.close()
      server.drops.add(this.#drop)
      this.#tell('open')
    })
  }

  addEventListener(type: string, listener: (event: { data: unknown }) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    if (!this.#isOpen) return
    const frame = JSON.parse(text) as ClientFrame
    this.#server.frames.push(frame)
    queueMicrotask(() => this.#answer(frame))
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#server.drops.delete(this.#drop)
    for (const follower of this.#attached.values()) this.#server.followers.delete(follower)
    queueMicrotask(() => this.#tell('close'))
  }

  #answer(frame: ClientFrame): void {
    const id = frame.id as FrameId
    if (frame.type === 'ping') return this.#say({ type: 'pong', id })
    if (frame.type === 'detach') {
      this.#leave(frame)
      return this.#say({ type: 'detached', id })
    }
    if (frame.type === 'unwatch') {
      this.#leave(allThreads)
      return this.#say({ type: 'unwatched', id })
    }
    if (frame.type === 'watch') return this.#watch(id, frame.types)
    if (frame.type !== 'attach') return
    const { after = 0, task, types } = frame
    const refusal = this.#server.refusal(after)
    if (refusal) return this.#say({ type: 'error', id, problem: toProblem(refusal, 'r') })
    this.#leave(frame)
    const follower: Follower = {
      ...{ after, task, types },
      give: (events) => {
        for (const event of events) this.#say({ type: 'event', id, event: event as never })
      },
      end: () => this.#say({ type: 'end', id, task: task as never }),
      erased: () => this.#say({ type: 'detached', id }),
    }
    this.#attached.set(keyOf(frame), follower)
    this.#say({ type: 'attached', id, head: this.#server.head })
    if (this.#isOpen) this.#server.follow(follower)
  }

  #watch(id: FrameId, types: readonly string[] | undefined): void {
    this.#leave(allThreads)
    const follower: Follower = {
      ...{ after: this.#server.head, types },
      give: (events) => {
        for (const event of events) this.#say({ type: 'event', id, event: event as never })
      },
      end: () => this.#say({ type: 'unwatched', id }),
      erased: () => this.#say({ type: 'unwatched', id }),
    }
    this.#attached.set(keyOf(allThreads), follower)
    this.#say({ type: 'watching', id })
    if (this.#isOpen) this.#server.follow(follower)
  }

  #leave(frame: { readonly thread: string; readonly task?: string }): void {
    const before = this.#attached.get(keyOf(frame))
    if (before) this.#server.followers.delete(before)
  }

  #say(frame: ServerFrame): void {
    if (!this.#isOpen || this.#server.isFrozen) return
    if (this.#life <= 0) return this.close()
    this.#life -= 1
    this.#tell('message', JSON.stringify(frame))
  }

  #tell(type: string, data?: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ data })
  }
}

function keyOf({ thread, task }: { readonly thread: string; readonly task?: string }): string {
  return `${thread}/${task ?? ''}`
}
