import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { HoldfastError } from '../core/errors.ts'
import { toProblem } from '../protocol/problem.ts'
import { answerSocket } from './answer-socket.ts'
import { requestIdOf } from './request-id.ts'
import { headersOf } from './websocket/handshake.ts'

/** Answers what Node could not read as a request: garbage, headers that are too large, or that did not come in time. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Duplex, node: string): void {
  refuse(socket, refusal(error.code), requestIdOf(new Headers()), node)
}

const allow = 'GET, HEAD, POST, DELETE'

/** Answers CONNECT, which Node hands over as a connection to somewhere else. Nobody is connected to anywhere here. */
export function refuseTunnel(request: IncomingMessage, socket: Duplex, node: string): void {
  socket.on('error', () => socket.destroy())
  const error = new HoldfastError('method_not_allowed', 'This is no proxy: it takes no CONNECT', { facts: { allow } })
  refuse(socket, error, requestIdOf(headersOf(request)), node)
}

function refuse(socket: Duplex, error: HoldfastError, requestId: string, node: string): void {
  // A later request on a connection whose answer is under way: nothing may be written into the middle of that.
  const { _httpMessage: underWay } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null }
  if (!socket.writable || underWay?.headersSent) {
    socket.destroy()
    return
  }
  answerSocket(socket, toProblem(error, requestId), { 'x-request-id': requestId, 'x-holdfast-node': node })
}

function refusal(code: string | undefined): HoldfastError {
  if (code === 'HPE_HEADER_OVERFLOW') return new HoldfastError('too_large', 'The headers are too large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HoldfastError('invalid_request', 'The request did not come in time')
  }
  return new HoldfastError('invalid_request', 'This cannot be read as an HTTP request')
}
