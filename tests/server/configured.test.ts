import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Task } from '../../src/core/task.ts'
import { OwnedProcess } from './harness/owned-process.ts'

const program = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))

let folder = ''
let processes: OwnedProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-configured-'))
})

afterEach(async () => {
  for (const each of processes) await each.end('SIGKILL')
  processes = []
  rmSync(folder, { recursive: true, force: true })
})

function serve(config: string, ...args: readonly string[]): OwnedProcess {
  writeFileSync(join(folder, 'holdfast.config.ts'), config)
  const env = { XDG_STATE_HOME: join(folder, 'state') }
  const started = new OwnedProcess({ arguments: [program, 'serve', '--port', '0', ...args], env, folder })
  processes.push(started)
  return started
}

async function serving(config: string, ...args: readonly string[]) {
  const server = serve(config, ...args)
  const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
  return { server, url: url.replace('0.0.0.0', '127.0.0.1') }
}

const hooked = `export default {
  store: 'memory:',
  authenticate(request: Request) {
    const who = request.headers.get('x-who')
    if (who === 'trouble') throw new Error('the secret of the hook')
    if (who === 'later') return Promise.reject(new Error('the secret of the hook'))
    return who ?? undefined
  },
}`

describe('authenticate of a config file', () => {
  const statusAs = async (url: string, who?: string) =>
    (await fetch(`${url}/v1/tasks`, { headers: who === undefined ? {} : { 'x-who': who } })).status

  it('says who is asking: principals do not meet, and nobody else is let in', async () => {
    const { server, url } = await serving(hooked)
    const headers = { 'content-type': 'application/json', 'x-who': 'alice' }
    const body = JSON.stringify({ agent: 'echo', prompt: 'hi' })
    const accepted = await fetch(`${url}/v1/threads/t/runs`, { method: 'POST', headers, body })
    const { id } = (await accepted.json()) as Task
    const taskAs = async (who: string) => (await fetch(`${url}/v1/tasks/${id}`, { headers: { 'x-who': who } })).status
    expect([await taskAs('alice'), await taskAs('bob')]).toEqual([200, 404])
    expect(await statusAs(url)).toBe(401)
    // No token was asked for, so none was made.
    expect(existsSync(join(folder, 'state', 'holdfast', 'token'))).toBe(false)
    expect(server.stderr.join('\n')).not.toContain('login=')
  })

  it('is asked about a WebSocket as well', async () => {
    const { url } = await serving(hooked)
    const opened = (who: string) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, { headers: { 'x-who': who } })
        socket.on('open', () => {
          socket.terminate()
          resolve(101)
        })
        socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      })
    expect([await opened('alice'), await opened(''), await opened('trouble')]).toEqual([101, 401, 500])
  })

  it('that throws or rejects lets nobody in, and tells the caller nothing of why', async () => {
    const { server, url } = await serving(hooked)
    for (const who of ['trouble', 'later', 'no/principal']) {
      const answer = await fetch(`${url}/v1/tasks`, { headers: { 'x-who': who } })
      expect(answer.status).toBe(500)
      const text = await answer.text()
      expect(JSON.parse(text)).toMatchObject({ code: 'internal_error' })
      expect(text).not.toMatch(/secret|stack|config|principal/i)
    }
    expect(await statusAs(url, 'alice')).toBe(200)
    await server.end('SIGTERM')
    expect(server.stderr.join('\n')).toContain('the secret of the hook')
  })

  it('counts as configured: a server that others can reach starts without a token', async () => {
    const { url } = await serving(hooked, '--host', '0.0.0.0')
    expect([await statusAs(url), await statusAs(url, 'alice')]).toEqual([401, 200])
  })

  it('stands beside tokens, of which it is not asked', async () => {
    const config = `export default { store: 'memory:', token: 'secret', authenticate: () => undefined }`
    const { url } = await serving(config)
    expect((await fetch(`${url}/v1/tasks`, { headers: { authorization: 'Bearer secret' } })).status).toBe(200)
    expect(await statusAs(url)).toBe(401)
  })

  it.each(['authenticate', 'onEnded'])('%s that is no function is refused', async (name) => {
    const refused = serve(`export default { ${name}: 'yes' }`)
    expect((await refused.ended).code).toBe(1)
    expect(refused.stderr).toEqual([`holdfast: ${name} in holdfast.config.ts: "yes" is not a function`])
  })
})

describe('onEnded of a config file', () => {
  it('is called for what ended before kill -9, by the next start', async () => {
    const told = join(folder, 'told')
    const config = (act: string) => `
      import { appendFileSync } from 'node:fs'
      export default {
        store: 'sqlite:./holdfast.db',
        token: 'secret',
        onEnded(task: { id: string; status: string }, call: { attempt: number; key: string }) {
          appendFileSync(${JSON.stringify(told)}, JSON.stringify([task.id, task.status, call.key]) + '\\n')
          ${act}
        },
      }`
    const headers = { 'content-type': 'application/json', authorization: 'Bearer secret' }
    const { server, url } = await serving(config(`throw new Error('not now')`))
    const body = JSON.stringify({ agent: 'echo', prompt: 'hi' })
    const accepted = await fetch(`${url}/v1/threads/t/runs`, { method: 'POST', headers, body })
    const { id } = (await accepted.json()) as Task
    const hookOf = async (where: string) =>
      ((await (await fetch(`${where}/v1/tasks/${id}`, { headers })).json()) as Task).hook
    for (;;) if ((await hookOf(url))?.error === 'not now') break
    await server.end('SIGKILL')
    const before = readFileSync(told, 'utf8').trim().split('\n')
    const next = await serving(config(''))
    for (;;) if ((await hookOf(next.url)) === undefined) break
    const after = readFileSync(told, 'utf8').trim().split('\n')
    expect(after.length).toBeGreaterThan(before.length)
    expect(new Set(after).size).toBe(1)
    expect(JSON.parse(after[0] ?? '')).toEqual([
      id,
      'completed',
      expect.stringMatching(new RegExp(`^${id}\\.ended\\.`)),
    ])
    const metrics = await (await fetch(`${next.url}/metrics`, { headers })).text()
    expect(metrics).toContain('holdfast_hooks_total{result="answered"} 1')
  })
})
