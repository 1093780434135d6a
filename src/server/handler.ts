import { toProblem } from '../protocol/problem.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { createApp } from './app.ts'
import { compose } from './compose.ts'
import type { HandlerOptions } from './options.ts'
import { bareProblem } from './problem-response.ts'
import { requestIdOf } from './request-id.ts'

/** Answers a request of the Fetch API. */
export type Handler = (request: Request) => Promise<Response>

/**
 * The HTTP API of a runtime as one function, to be mounted into any server that speaks the Fetch API. It has all routes
 * but the WebSocket, which needs the connection itself; `serve` has that too.
 */
export function createHandler(runtime: Runtime, options: HandlerOptions): Handler {
  const app = compose(runtime, options)().then(createApp)
  // Every request reports it; a handler that nobody has asked anything yet must not end the process.
  app.catch(() => {})
  return async (request) => {
    const opened = await app.catch((error: unknown) => error as Error)
    if (!(opened instanceof Error)) return opened.fetch(request)
    const requestId = requestIdOf(request.headers)
    return bareProblem(toProblem(opened, requestId), { 'x-request-id': requestId })
  }
}
