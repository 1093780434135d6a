import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { HoldfastError } from '../../core/errors.ts'
import type { Problem } from '../../protocol/problem.ts'
import { answerSocket } from '../answer-socket.ts'

/** The one subprotocol there is; a client that offers it is told that it is spoken. */
export const subprotocol = 'holdfast.v1'

/** Doubled headers are joined, so that a doubled `Host` is no host and a doubled token no token. */
export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return headers
}

/** The request as a program that authenticates by itself is shown it. */
export function requestOf({ url = '/', method = 'GET' }: IncomingMessage, headers: Headers, isTls: boolean): Request {
  try {
    return new Request(new URL(url, `${isTls ? 'https' : 'http'}://${headers.get('host') ?? 'localhost'}`), {
      method,
      headers,
    })
  } catch (cause) {
    throw new HoldfastError('invalid_request', 'The request line cannot be read', { cause })
  }
}

/**
 * Throws what a request is refused with that `ws` would not refuse as we do. Version 8 names the page's origin in a
 * header of its own, where nobody checks it.
 */
export function checkHandshake({ method }: IncomingMessage, headers: Headers): void {
  if (method !== 'GET') {
    throw new HoldfastError('method_not_allowed', 'A WebSocket is opened with GET', { facts: { allow: 'GET' } })
  }
  if (headers.get('sec-websocket-version') === '13') return
  throw new HoldfastError('invalid_request', 'Missing or invalid Sec-WebSocket-Version header: it must be 13')
}

/** Answers a request for a WebSocket with a problem, and ends its connection. */
export function refuse(socket: Duplex, problem: Problem, headers: Readonly<Record<string, string>>): void {
  const version = { 'sec-websocket-version': '13' }
  answerSocket(socket, problem, problem.status === 400 ? { ...headers, ...version } : headers)
}
