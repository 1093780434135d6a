import type { AcceptedRun, Question } from '../../../src/index.ts'
import type { Transport } from '../../server/harness/client.ts'
import { type Problem, Refused } from '../../server/harness/refused.ts'
import { Socket } from '../../server/harness/socket.ts'
import type { ServedWorld } from './served-world.ts'

/** A request that accepts work. */
export interface Asking {
  readonly route: 'runs' | 'tasks'
  readonly thread: string
  readonly body: Readonly<Record<string, unknown>>
  readonly key?: string
}

/** No answer came, or not the whole of it. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

/** Asks the server over a line that may break. Rejects with `Refused`, or with `Unanswered`. */
export class WireClient {
  readonly #world: ServedWorld
  readonly #transport: Transport
  readonly #server
  /** Keys whose 202 was seen, though perhaps not what came with it. */
  readonly #acknowledged = new Set<string>()
  #socket: Socket | undefined

  constructor(world: ServedWorld, transport: Transport, isBreaking: boolean) {
    this.#world = world
    this.#transport = transport
    this.#server = isBreaking ? world.breaking : world.server
  }

  async accept({ route, thread, body, key }: Asking): Promise<AcceptedRun> {
    if (this.#transport === 'ws' && route === 'runs') {
      const keyed = key === undefined ? {} : { idempotencyKey: key }
      return (await this.#ask({ type: 'run', thread, ...body, ...keyed }))['task'] as AcceptedRun
    }
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    const response = await this.#fetch('POST', `/v1/threads/${thread}/${route}`, body, headers)
    if (key !== undefined && response.ok) this.#checkReplay(key, response)
    return bodyOf(response)
  }

  async cancel(thread: string, { task, scope }: { task?: string; scope?: 'runs' | 'all' }): Promise<string[]> {
    const reach = scope === undefined ? {} : { scope }
    if (this.#transport === 'ws') {
      const target = task === undefined ? {} : { task }
      return (await this.#ask({ type: 'cancel', thread, ...target, ...reach }))['cancelled'] as string[]
    }
    const path = task === undefined ? `/v1/threads/${thread}/cancel` : `/v1/tasks/${task}/cancel`
    return (await bodyOf<{ cancelled: string[] }>(await this.#fetch('POST', path, reach))).cancelled
  }

  async send(thread: string, task: string, content: unknown): Promise<string> {
    if (this.#transport === 'ws') {
      return (await this.#ask({ type: 'send', thread, task, content }))['messageId'] as string
    }
    return (await bodyOf<{ id: string }>(await this.#fetch('POST', `/v1/tasks/${task}/messages`, { content }))).id
  }

  async answer(question: string, answer: unknown): Promise<Question> {
    if (this.#transport === 'ws') return (await this.#ask({ type: 'answer', question, answer }))['question'] as Question
    return this.post(`/v1/questions/${question}/answer`, { answer })
  }

  async post<Body>(path: string, body: unknown): Promise<Body> {
    return bodyOf(await this.#fetch('POST', path, body))
  }

  async get<Body>(path: string): Promise<Body> {
    return bodyOf(await this.#fetch('GET', path))
  }

  drop(): void {
    this.#socket?.drop()
  }

  /** Whoever has read the status line of a 202 knows that the next answer under its key is a repetition. */
  #checkReplay(key: string, { headers }: Response): void {
    if (this.#acknowledged.has(key) && headers.get('idempotency-replayed') !== 'true') {
      this.#world.broken(`the key ${key} was acknowledged, and accepted anew`)
    }
    this.#acknowledged.add(key)
  }

  async #fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const json = { 'content-type': 'application/json' }
    const init = { method, headers: { ...this.#server.authorization(), ...json, ...headers }, ...sent }
    const response = await fetch(`${this.#server.url}${path}`, init).catch(unanswered)
    if (response.status < 400) return response
    throw new Refused(await bodyOf<Problem>(response))
  }

  async #ask(frame: { readonly type: string } & Readonly<Record<string, unknown>>) {
    try {
      this.#socket ??= await this.#open()
      return await this.#socket.ask(frame)
    } catch (error) {
      return error instanceof Refused ? Promise.reject(error) : unanswered(error)
    }
  }

  async #open(): Promise<Socket> {
    const socket = await Socket.open(this.#server)
    void socket.closed.then(() => {
      if (this.#socket === socket) this.#socket = undefined
    })
    return socket
  }
}

async function bodyOf<Body>(response: Response): Promise<Body> {
  return JSON.parse(await response.text().catch(unanswered)) as Body
}

function unanswered(cause: unknown): never {
  throw new Unanswered('The connection broke', { cause })
}
