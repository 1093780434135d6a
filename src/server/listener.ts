import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { HoldfastError } from '../core/errors.ts'
import { toProblem } from '../protocol/problem.ts'
import type { App } from './app-env.ts'
import { isLoopback, parseHost } from './host.ts'
import { bareProblem } from './problem-response.ts'
import { requestIdOf } from './request-id.ts'
import type { ServerParts } from './server-parts.ts'

/** Says that the response was written to directly, and that nothing is to be done with it. */
const alreadySent = Symbol('already sent')

/** What Node calls for every request. */
export function createListener(app: App, { node, log }: ServerParts): RequestListener {
  const onError = (error: unknown): Response | undefined => {
    if (error === alreadySent) return undefined
    const refused =
      error instanceof RequestError ? new HoldfastError('invalid_request', 'The address is not valid') : error
    const requestId = requestIdOf(new Headers())
    if (refused === error) log.error({ requestId, err: error }, 'a request failed by a defect')
    return bareProblem(toProblem(refused, requestId), { 'x-request-id': requestId, 'x-holdfast-node': node })
  }
  const respond = async (request: Request, env: HttpBindings): Promise<Response> => {
    const response = await app.fetch(request, env)
    if (env.outgoing.headersSent) throw alreadySent
    return response
  }
  // Of HTTP/2 the type speaks as well, but nobody here does.
  const listen = getRequestListener((request, env) => respond(request, env as HttpBindings), {
    // A request of HTTP/1.0 may name no host. It is then refused by the guard, unless it is a probe.
    hostname: 'localhost',
    // The program around us keeps its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: onError,
  })
  // Nearly all requests name one host.
  let keptHost: string | undefined
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { headers } = incoming
    if (headers.host !== keptHost) {
      // A host that no URL has as it stands is a wrong one like others: the guard sees it as it came, and probes ignore it.
      if (headers.host !== undefined && !isKeptByUrls(headers.host)) headers.host = ''
      else keptHost = headers.host
    }
    const count = outgoing.listenerCount('close')
    const answered = listen(incoming, outgoing)
    const added = outgoing.listeners('close').slice(count) as (() => void)[]
    await answered
    // A stream goes on for long. What tells the request that its client left would keep the whole of it in memory.
    if (!outgoing.writableEnded) for (const listener of added) outgoing.off('close', listener)
  }
  return (incoming, outgoing) => void answer(incoming, outgoing)
}

/** Whether a URL spells the host as it came. Of an address in another notation it makes the usual one. */
function isKeptByUrls(text: string): boolean {
  const { name } = parseHost(text) ?? {}
  return name !== undefined && (isLoopback(name) || URL.parse(`http://${name}`)?.hostname === name)
}
