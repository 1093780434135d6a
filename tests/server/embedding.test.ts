import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHandler, createRuntime, echoAgent, type Handler, type Runtime } from '../../src/index.ts'
import { until } from './harness/local-server.ts'

const root = resolve(import.meta.dirname, '../..')
const headers = { authorization: 'Bearer secret' }

/** Sends a request to wherever Holdfast is mounted. */
type Ask = (path: string, init?: RequestInit) => Promise<Response>

describe('a handler that is embedded as the page says', () => {
  it.each(['Hono', 'Express', 'Fastify'])('answers in a server of %s, beside the rest of the app', async (name) => {
    const url = await startedProgram(await programOf(name))
    expect(await (await fetch(url)).text()).toBe('the rest of the app')
    await checkEveryKind((path, init) => fetch(`${url}/holdfast${path}`, init))
  })

  it('answers as a route of Next', async () => {
    const folder = await programFolder(await programOf('Next'))
    const route = (await import(join(folder, 'program.ts'))) as Record<'GET' | 'POST' | 'DELETE', Handler>
    onTestFinished(() => (globalThis as { runtime?: Runtime }).runtime?.close())
    await checkEveryKind((path, init) => {
      const request = new Request(`http://127.0.0.1:3000/holdfast${path}`, {
        ...init,
        headers: { host: '127.0.0.1:3000', ...(init?.headers as Record<string, string>) },
      })
      return route[request.method as 'GET'](request)
    })
  })
})

describe('a handler', () => {
  it.each([{}, { tokens: {} }])('is not made without anybody who could be let in: %o', (options) => {
    const runtime = createRuntime({ store: 'memory:' })
    onTestFinished(() => runtime.close())
    expect(() => createHandler(runtime, options)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it.each(['holdfast', '/a b', '//', '/a?b'])('is not made with a base path that is none: %s', (basePath) => {
    const runtime = createRuntime({ store: 'memory:' })
    onTestFinished(() => runtime.close())
    const options = { basePath, tokens: { owner: 'secret' } }
    expect(() => createHandler(runtime, options)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('says that the store is not there, to whoever asks', async () => {
    const handler = createHandler(createRuntime({ store: `sqlite:${import.meta.filename}/in-a-file.db` }), {
      tokens: { owner: 'secret' },
    })
    const response = await handler(new Request('http://127.0.0.1/v1/limits', { headers: { host: '127.0.0.1' } }))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ code: 'store_unavailable', requestId: expect.any(String) })
  })

  it.each([
    ['as Express does with one of its own', async () => asked({ headers: { 'content-length': '14' } })],
    ['as Express does with one in chunks', async () => asked({ headers: { 'transfer-encoding': 'chunked' } })],
    ['from the request itself', async () => readFrom(asked({ body: '{"tree":false}' }))],
  ])('refuses a body that was read before it, %s, and takes it for no empty one', async (_how, make) => {
    const { handler, runtime } = local()
    const { id } = await runtime.spawn({ thread: 't', run: (ctx) => once(ctx.signal, 'abort') })
    const response = await handler(await make())
    expect(response.status).toBe(400)
    const detail = expect.stringContaining('before whatever parses bodies') as string
    expect(await response.json()).toMatchObject({ code: 'invalid_request', detail })
    expect(await runtime.cancel(id)).toBe(true)
  })

  it('does not say of a body in chunks that it was read before, because it may as well be empty', async () => {
    const { handler } = local()
    const body = new ReadableStream({ start: (stream) => stream.close() })
    const response = await handler(asked({ headers: { 'transfer-encoding': 'chunked' }, body, duplex: 'half' }))
    expect(response.status).toBe(400)
    const detail = expect.stringMatching(/empty though it comes in chunks.*Who has none sends no chunks/) as string
    expect(await response.json()).toMatchObject({ code: 'invalid_request', detail })
  })

  it('leaves nothing behind when the reader of a stream leaves', async () => {
    const { ask, runtime } = local()
    const stream = await ask('/v1/threads/t/events', { headers: { accept: 'text/event-stream' } })
    const reader = stream.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('retry: 1000\n\n')
    expect((await runtime.thread('t')).watchers).toBe(1)
    await reader?.cancel()
    await until(async () => (await runtime.thread('t')).watchers === 0)
  })

  it('ends its streams when the runtime closes', async () => {
    const { ask, runtime } = local()
    const stream = await ask('/v1/threads/t/events', { headers: { accept: 'text/event-stream' } })
    await runtime.close()
    expect(await stream.text()).toBe('retry: 1000\n\n')
  })
})

/** A cancel of one task without its tree. */
function asked(init: RequestInit): Request {
  const all = { host: '127.0.0.1', ...headers, ...(init.headers as Record<string, string>) }
  return new Request('http://127.0.0.1/v1/tasks/bg_0/cancel', { method: 'POST', ...init, headers: all })
}

async function readFrom(request: Request): Promise<Request> {
  await request.json()
  return request
}

function local(): { ask: Ask; runtime: Runtime; handler: Handler } {
  const runtime = createRuntime({ store: 'memory:', agents: { echo: echoAgent() } })
  onTestFinished(() => runtime.close())
  const handler = createHandler(runtime, { tokens: { owner: 'secret' } })
  return {
    runtime,
    handler,
    ask: (path, init) =>
      handler(
        new Request(`http://127.0.0.1${path}`, {
          ...init,
          headers: { host: '127.0.0.1', ...headers, ...(init?.headers as Record<string, string>) },
        }),
      ),
  }
}

/** A POST with a body, a stream that ends, one that its reader leaves, a page, a refusal, an answer without a body. */
async function checkEveryKind(ask: Ask): Promise<void> {
  const accepted = await ask('/v1/threads/demo/runs', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'echo', prompt: 'hi' }),
  })
  expect(accepted.status).toBe(202)
  const { id } = (await accepted.json()) as { id: string }
  const accept = { accept: 'text/event-stream' }
  const stream = await ask(`/v1/threads/demo/events?task=${id}`, { headers: { ...headers, ...accept } })
  expect(await stream.text()).toMatch(/^retry: 1000\n\nid: 1\n.*"data":{"text":"hi"}.*task\.completed/s)
  const left = await ask('/v1/threads/demo/events', { headers: { ...headers, ...accept } })
  await left.body?.cancel()
  const page = await ask('/v1/threads/demo/events?limit=1', { headers })
  expect(await page.json()).toMatchObject({ events: [{ seq: 1, task: id }], next: 1 })
  expect((await ask('/v1/limits')).status).toBe(401)
  expect((await ask('/v1/threads/demo', { method: 'DELETE', headers })).status).toBe(204)
}

async function programOf(name: string): Promise<string> {
  const page = await readFile(join(root, 'docs/embedding.md'), 'utf8')
  const program = new RegExp(`^## ${name}$.*?^\`\`\`ts\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
  if (program === undefined) throw new Error(`The page has no program under ${name}`)
  return program
}

/** A folder in which the program runs as it would in a project that has the packages installed. */
async function programFolder(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-embedding-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const source = program
    .replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`)
    .replaceAll('sqlite:./', `sqlite:${folder}/`)
    .replaceAll('3000', '0')
  await writeFile(join(folder, 'program.ts'), source)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return folder
}

async function startedProgram(program: string): Promise<string> {
  const folder = await programFolder(program)
  const child = spawn(process.execPath, ['program.ts'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return `http://127.0.0.1:${/^listening on (\d+)$/.exec(line)?.[1]}`
}
