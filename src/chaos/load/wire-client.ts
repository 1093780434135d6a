import type { Question } from '../../core/question.ts'
import type { Task } from '../../core/task.ts'
import type { Deletes } from '../history/entry.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type Answer, ask, bodyOf } from './http.ts'
import { type Asking, type Frame, Socket } from './socket.ts'
import type { World } from './world.ts'

// Longer than grace times and the time that readers elsewhere are given.
const deleteMs = 8_000

/** A request that accepts work. */
export interface Work {
  readonly route: 'runs' | 'tasks'
  readonly thread: string
  readonly body: Readonly<Record<string, unknown>>
  readonly key?: string
}

export interface Accepted {
  readonly task: Task & { readonly steered?: string; readonly interrupted?: readonly string[] }
  readonly node: string
  /** Whether the answer said that it repeats an earlier one. */
  readonly isRepeat: boolean
  /** Of its thread, when this was asked for. */
  readonly deletes?: Deletes
}

/** Asks any node over lines that may break. Rejects with `Refused`, or with `Unanswered`. */
export class WireClient {
  readonly #world: World
  readonly #random: SeededRandom
  readonly #principal: string
  readonly #token: string
  readonly #usesSocket: boolean
  #socket: { readonly socket: Socket; readonly node: ServedNode } | undefined

  constructor(world: World, random: SeededRandom, principal: string, usesSocket: boolean) {
    this.#world = world
    this.#random = random
    this.#principal = principal
    this.#token = world.token(principal)
    this.#usesSocket = usesSocket
  }

  async accept({ route, thread, body, key }: Work): Promise<Accepted> {
    const deletes = this.#world.deletesOf(this.#principal, thread)
    if (this.#usesSocket && route === 'runs') {
      const keyed = key === undefined ? {} : { idempotencyKey: key }
      const { frame, node } = await this.#frame({ type: 'run', thread, ...body, ...keyed })
      return {
        task: frame['task'] as Accepted['task'],
        node: node.name,
        isRepeat: frame['replayed'] === true,
        ...deletes,
      }
    }
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    const { answer, node } = await this.#ask('POST', `/v1/threads/${thread}/${route}`, body, headers)
    const isRepeat = answer.headers.get('idempotency-replayed') === 'true'
    return { task: bodyOf<Accepted['task']>(answer), node: node.name, isRepeat, ...deletes }
  }

  async cancel(thread: string, target: { task?: string; scope?: 'runs' | 'all'; tree?: true }): Promise<string[]> {
    const { task, ...reach } = target
    if (this.#usesSocket && reach.tree === undefined) {
      return (await this.#frame({ type: 'cancel', thread, ...target })).frame['cancelled'] as string[]
    }
    const path = task === undefined ? `/v1/threads/${thread}/cancel` : `/v1/tasks/${task}/cancel`
    return (await this.post<{ cancelled: string[] }>(path, reach)).cancelled
  }

  async send(thread: string, task: string, content: unknown): Promise<string> {
    if (this.#usesSocket) {
      return (await this.#frame({ type: 'send', thread, task, content })).frame['messageId'] as string
    }
    return (await this.post<{ id: string }>(`/v1/tasks/${task}/messages`, { content })).id
  }

  async answer(question: string, answer: unknown): Promise<Question> {
    if (this.#usesSocket) {
      return (await this.#frame({ type: 'answer', question, answer })).frame['question'] as Question
    }
    return this.post(`/v1/questions/${question}/answer`, { answer })
  }

  async post<Body>(path: string, body: unknown): Promise<Body> {
    return bodyOf<Body>((await this.#ask('POST', path, body)).answer)
  }

  async get<Body>(path: string): Promise<Body> {
    return bodyOf<Body>((await this.#ask('GET', path)).answer)
  }

  /** Waits for as long as whatever is in the thread may take to end. */
  async deleteThread(thread: string): Promise<void> {
    bodyOf((await this.#ask('DELETE', `/v1/threads/${thread}`, undefined, {}, deleteMs)).answer)
  }

  /** The answer as it is, refusals too. */
  async raw(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
    return (await this.#ask(method, path, body)).answer
  }

  drop(): void {
    this.#socket?.socket.drop()
  }

  async #ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    timeoutMs = this.#world.timeoutMs,
  ) {
    const node = await this.#world.node(this.#random)
    const url = `${this.#urlOf(node)}${path}`
    const answer = await ask({
      url,
      token: this.#token,
      method,
      headers,
      timeoutMs,
      ...(body !== undefined && { body }),
    })
    return { answer, node }
  }

  async #frame(asking: Asking): Promise<{ readonly frame: Frame; readonly node: ServedNode }> {
    this.#socket ??= await this.#open()
    const { socket, node } = this.#socket
    return { frame: await socket.ask(asking, this.#world.timeoutMs), node }
  }

  async #open() {
    const node = await this.#world.node(this.#random)
    const socket = await Socket.open(this.#urlOf(node), this.#token, this.#world.timeoutMs)
    const opened = { socket, node }
    void socket.closed.then(() => {
      if (this.#socket === opened) this.#socket = undefined
    })
    return opened
  }

  #urlOf(node: ServedNode): string {
    return this.#world.isRough && this.#random.chance(0.3) ? node.breakingUrl : node.url
  }
}
