import type { SocketConstructor } from '../../../../src/client/index.ts'
import { afterEvent, noRows } from '../../../../src/client/live/task-rows.ts'
import type { Event } from '../../../../src/core/event.ts'
import type { Status } from '../../../../src/core/status.ts'
import type { Task } from '../../../../src/core/task.ts'
import type { ClientFrame } from '../../../../src/protocol/frames.ts'

interface Asked {
  readonly url: URL
  /** What is read at some moment after it was asked, and comes some moment after it was read. */
  body?: string
  status?: number
  resolve(response: Response): void
}

/** A server with tasks in one thread, whose answers and events come when a test lets them. */
export class ListServer {
  /** Newest first. */
  tasks: readonly Task[] = []
  readonly asked: Asked[] = []
  readonly #waiting: string[] = []
  #seq = 0
  #socket: ListSocket | undefined

  readonly fetch: typeof fetch = (input, init) =>
    new Promise((resolve, reject) => {
      this.asked.push({ url: new URL(input), resolve })
      init?.signal?.addEventListener('abort', () => reject(new Error('given up')))
    })

  get WebSocket(): SocketConstructor {
    const server = this
    return class extends ListSocket {
      constructor() {
        super((socket) => server.#watched(socket))
      }
    }
  }

  accept(parent?: number): void {
    const number = this.tasks.length
    const at = 1000 + Math.floor(number / 2)
    const task = {
      ...{ id: `bg_${number}`, thread: 't', seq: 0, type: 'run', description: `task ${number}`, status: 'pending' },
      ...{ attempt: 0, epoch: 0, createdAt: at },
      ...(parent !== undefined && number > 0 && { parent: { task: `bg_${parent % number}` } }),
    } as unknown as Task
    this.#commit(task.id, { type: 'task.accepted', data: { task } })
  }

  /** The next thing that happens to a task: it starts, reports, and ends in one of three ways. */
  advance(which: number, how: Status | 'progress'): void {
    const task = this.tasks[which % Math.max(1, this.tasks.length)]
    if (!task || task.completedAt !== undefined) return
    const error = { code: 'agent_error', message: 'x' }
    if (how === 'progress') return this.#commit(task.id, { type: 'progress', data: { value: 0.5 } })
    if (task.status === 'pending')
      return this.#commit(task.id, { type: 'task.started', data: { attempt: 1, node: 'n' } })
    if (how === 'completed') return this.#commit(task.id, { type: 'task.completed', data: { result: 1 } })
    this.#commit(task.id, { type: how === 'failed' ? 'task.failed' : 'task.cancelled', data: { error } })
  }

  /** Makes a task pend once more, without a word. */
  restart(id: string): void {
    this.tasks = this.tasks.map((task) => (task.id === id ? { ...task, status: 'pending' } : task))
  }

  /** Lets so many events through. */
  deliver(count: number): void {
    for (const text of this.#waiting.splice(0, count)) this.#socket?.hear(text)
  }

  /** Reads what was asked for first and is not read yet. */
  read(): void {
    const asked = this.asked.find(({ body }) => body === undefined)
    if (!asked) return
    const { pathname, searchParams } = asked.url
    const id = /^\/v1\/tasks\/(.+)$/.exec(pathname)?.[1]
    asked.body = JSON.stringify(id === undefined ? this.#page(searchParams) : this.tasks.find((task) => task.id === id))
  }

  /** Lets an answer that was read come. */
  answer(): void {
    const index = this.asked.findIndex(({ body }) => body !== undefined)
    const [asked] = index < 0 ? [] : this.asked.splice(index, 1)
    asked?.resolve(new Response(asked.body ?? '{}', { status: asked.status ?? 200 }))
  }

  /** Breaks the connection; what was on its way is lost. */
  cut(): void {
    this.#waiting.length = 0
    this.#socket?.drop()
    this.#socket = undefined
  }

  matching(query: URLSearchParams): readonly Task[] {
    const status = query.get('status')?.split(',')
    const parent = query.get('parent')
    const isRoots = query.get('roots') === 'true'
    return this.tasks.filter(
      (task) =>
        (!status || status.includes(task.status)) &&
        (parent === null || task.parent?.task === parent) &&
        !(isRoots && task.parent?.task !== undefined),
    )
  }

  #page(query: URLSearchParams): { tasks: readonly Task[]; cursor?: string } {
    const before = Number(query.get('cursor') ?? Number.POSITIVE_INFINITY)
    const rest = this.matching(query).filter(({ id }) => numberOf(id) < before)
    const tasks = rest.slice(0, Number(query.get('limit') ?? 100))
    const last = tasks.at(-1)
    return { tasks, ...(rest.length > tasks.length && last && { cursor: String(numberOf(last.id)) }) }
  }

  #commit(task: string, { type, data }: { readonly type: string; readonly data: object }): void {
    this.#seq += 1
    const seq = this.#seq
    const numbered = type === 'task.accepted' ? { task: { ...(data as { task: Task }).task, seq } } : data
    const event = { thread: 't', seq, task, type, at: 2000 + seq, epoch: 1, data: numbered } as unknown as Event
    this.tasks = afterEvent({ ...noRows, shown: this.tasks }, event, {}).shown
    if (this.#socket) this.#waiting.push(JSON.stringify(event))
  }

  #watched(socket: ListSocket): void {
    this.#waiting.length = 0
    this.#socket = socket
  }
}

class ListSocket {
  readonly #onWatch: (socket: ListSocket) => void
  readonly #listeners = new Map<string, (event: { data: unknown }) => void>()
  #watch: unknown
  #isOpen = true

  constructor(onWatch: (socket: ListSocket) => void) {
    this.#onWatch = onWatch
    queueMicrotask(() => this.#tell('open'))
  }

  addEventListener(type: string, listener: (event: { data: unknown }) => void): void {
    this.#listeners.set(type, listener)
  }

  send(text: string): void {
    const { type, id } = JSON.parse(text) as ClientFrame
    if (type !== 'watch') return
    this.#watch = id
    this.#onWatch(this)
    this.#tell('message', JSON.stringify({ type: 'watching', id }))
  }

  hear(event: string): void {
    this.#tell('message', `{"type":"event","id":${JSON.stringify(this.#watch)},"event":${event}}`)
  }

  drop(): void {
    this.#tell('close')
    this.#isOpen = false
  }

  close(): void {
    this.#isOpen = false
  }

  #tell(type: string, data?: unknown): void {
    if (this.#isOpen) this.#listeners.get(type)?.({ data })
  }
}

function numberOf(id: string): number {
  return Number(id.slice('bg_'.length))
}
