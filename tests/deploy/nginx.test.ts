import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/chaos/postgres/free-port.ts'
import { hasNginx, startNginx } from './harness/installed-nginx.ts'

/** How a node takes every request: it is served, refused, or gets no answer; `gone` is none that could be connected to. */
type Kind = 'serves' | 'drains' | 'breaks' | 'gone'

interface Got {
  readonly kind: Kind
  readonly body: string
}

async function nodeThat(kind: Kind, got: Got[]): Promise<number> {
  if (kind === 'gone') return freePort()
  const node = createServer((request, response) => {
    void text(request).then((body) => {
      got.push({ kind, body })
      if (kind === 'breaks') request.socket.destroy()
      else if (kind === 'serves') response.writeHead(202).end('{}')
      else response.writeHead(503, { 'retry-after': '7' }).end('{"status":503}')
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  onTestFinished(() => {
    node.closeAllConnections()
    node.close()
  })
  return (node.address() as AddressInfo).port
}

/** As many as have nginx begin with each of the nodes. */
const askCount = 12

async function ask(kinds: readonly Kind[], method: 'GET' | 'POST') {
  const got: Got[] = []
  const url = await startNginx(await Promise.all(kinds.map((kind) => nodeThat(kind, got))))
  const answers = []
  for (let n = 0; n < askCount; n++) {
    const response = await fetch(url, { method, ...(method === 'POST' && { body: `${n}` }) })
    const answer = { status: response.status, retryAfter: response.headers.get('retry-after') }
    answers.push({ ...answer, body: await response.text(), got: got.filter(({ body }) => body === `${n}`) })
  }
  return answers
}

describe.skipIf(!hasNginx).each(['GET', 'POST'] as const)('nginx, with deploy/nginx.conf and %s', (method) => {
  it.each<readonly Kind[]>([
    ['drains', 'serves', 'serves'],
    ['gone', 'serves', 'serves'],
    ['drains', 'gone', 'serves'],
  ])('shows nobody that nodes drain or are gone: %s, %s, %s', async (...kinds) => {
    for (const { status } of await ask(kinds, method)) expect(status).toBe(202)
  })

  it.each<readonly Kind[]>([
    ['drains', 'drains', 'drains'],
    ['drains', 'gone', 'drains'],
    ['gone', 'gone', 'drains'],
  ])('passes a refusal on as it is where nobody serves: %s, %s, %s', async (...kinds) => {
    for (const { status, retryAfter, body } of await ask(kinds, method)) {
      expect({ status, retryAfter, body }).toEqual({ status: 503, retryAfter: '7', body: '{"status":503}' })
    }
  })
})

it.skipIf(!hasNginx)('nginx sends no POST again that a node got and did not refuse', async () => {
  for (const { status, got } of await ask(['drains', 'breaks', 'serves'], 'POST')) {
    const [last, ...before] = got.toReversed()
    expect(before.every(({ kind }) => kind === 'drains')).toBe(true)
    expect(status).toBe(last?.kind === 'serves' ? 202 : 502)
  }
})
