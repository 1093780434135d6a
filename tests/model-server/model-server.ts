import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { chatAnswer, responsesAnswer, type Sent } from './answers.ts'
import { readRequest } from './read-request.ts'
import type { ModelRequest, Script, Turn } from './script.ts'

/**
 * A model provider on loopback that answers by a script: `POST /v1/chat/completions` and `POST /v1/responses`, both streamed.
 * Every request is counted, refused ones too.
 */
export class ModelServer {
  readonly requests: ModelRequest[] = []
  /** The script may be changed at any time; it is asked at each request. */
  script: Script
  readonly #server: Server
  #onHeld: (() => void)[] = []
  #held = new Set<() => void>()
  #onLeft: (() => void)[] = []

  private constructor(script: Script) {
    this.script = script
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
  }

  static async start(script: Script, port = 0): Promise<ModelServer> {
    const server = new ModelServer(script)
    server.#server.listen(port, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  /** The base URL that a provider is given. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** Resolves when the next caller leaves while its answer is held. */
  left(): Promise<void> {
    return new Promise((resolve) => this.#onLeft.push(resolve))
  }

  /** Resolves when an answer is held. */
  held(): Promise<void> {
    if (this.#held.size > 0) return Promise.resolve()
    return new Promise((resolve) => this.#onHeld.push(resolve))
  }

  /** Lets all held answers go on. */
  release(): void {
    for (const goOn of this.#held) goOn()
    this.#held.clear()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.url === '/requests') return void response.end(JSON.stringify(this.requests))
    const endpoint = endpointOf(incoming.url)
    if (!endpoint) return refuse(response, { status: 404 })
    const body = JSON.parse(await text(incoming)) as Record<string, unknown>
    const request = { number: this.requests.length + 1, ...readRequest(endpoint, body) }
    this.requests.push(request)
    const turn = this.script(request)
    if (turn.status !== undefined) return refuse(response, turn)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = endpoint === 'chat' ? chatAnswer(request, turn) : responsesAnswer(request, turn)
    await this.#send(response, events, turn)
  }

  async #send(response: ServerResponse, events: readonly Sent[], turn: Turn): Promise<void> {
    const leaving = () => 'left' as const
    const left = once(response, 'close').then(leaving, leaving)
    let chunkCount = 0
    for (const event of events) {
      const isBreak = event.isChunk || event.data === '[DONE]' || event.event === 'response.completed'
      if (isBreak && turn.cutAfter === chunkCount) return void response.socket?.end()
      if (isBreak && turn.errorAfter === chunkCount) return void response.end(errorText(event))
      if (isBreak && turn.holdAfter === chunkCount && (await this.#hold(left)) === 'left') return
      if (event.isChunk) chunkCount += 1
      const name = event.event === undefined ? '' : `event: ${event.event}\n`
      const data = event.data === '[DONE]' ? event.data : JSON.stringify(event.data)
      if (!response.write(`${name}data: ${data}\n\n`)) await Promise.race([once(response, 'drain'), left])
    }
    response.end()
  }

  async #hold(left: Promise<'left'>): Promise<unknown> {
    let goOn = () => {}
    const released = new Promise<void>((resolve) => {
      goOn = resolve
    })
    this.#held.add(goOn)
    for (const tell of this.#onHeld.splice(0)) tell()
    const end = await Promise.race([released, left])
    if (end === 'left') this.#held.delete(goOn)
    if (end === 'left') for (const tell of this.#onLeft.splice(0)) tell()
    return end
  }
}

function endpointOf(url: string | undefined): ModelRequest['endpoint'] | undefined {
  if (url === '/v1/chat/completions') return 'chat'
  return url === '/v1/responses' ? 'responses' : undefined
}

function refuse(response: ServerResponse, { status = 500, headers = {} }: Turn): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(
    JSON.stringify({ error: { message: `refused with ${status}`, type: 'scripted', code: null, param: null } }),
  )
}

function errorText(instead: Sent): string {
  const error = { message: 'the model broke down', type: 'server_error', code: 'server_error', param: null }
  const data = instead.event === undefined ? { error } : { type: 'error', sequence_number: 1, error }
  return `data: ${JSON.stringify(data)}\n\n`
}
