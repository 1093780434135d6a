import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from '../protocol/problem.ts'
import { bareProblem } from './problem-response.ts'

/** Answers with a problem on a socket that no request or response stands between, and ends the connection. */
export function answerSocket(socket: Duplex, problem: Problem, headers: Readonly<Record<string, string>>): void {
  const body = Buffer.from(JSON.stringify(problem))
  const all = {
    ...Object.fromEntries(bareProblem(problem, headers).headers),
    'content-length': String(body.length),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n`
  // What the client sent beyond its request is read and dropped; unread, it would take the answer down with it.
  socket.resume()
  socket.once('finish', () => socket.destroy())
  socket.end(Buffer.concat([Buffer.from(head), body]))
}
