import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { OwnedProcess } from './harness/owned-process.ts'

const token = 'configured-0123456789'
const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'))

let folder = ''
let processes: OwnedProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
})

afterEach(async () => {
  for (const each of processes) await each.end('SIGKILL')
  processes = []
  rmSync(folder, { recursive: true, force: true })
})

interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly nodeFlags?: readonly string[]
}

function holdfast(args: readonly string[], { env = {}, nodeFlags = [] }: Options = {}): OwnedProcess {
  const started = new OwnedProcess({
    arguments: [...nodeFlags, inject('program'), ...args],
    env: { XDG_STATE_HOME: join(folder, 'state'), ...env },
    folder,
  })
  processes.push(started)
  return started
}

/** A server that is ready, and where. */
async function serving(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const server = holdfast(['serve', '--port', '0', ...args], { env })
  const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
  return { server, url }
}

/** The one line that a process which does not start says, and how it ends. */
async function refusal(args: readonly string[], options: Options = {}): Promise<string> {
  const refused = holdfast(args, options)
  const { code } = await refused.ended
  expect([code, refused.stdout]).toEqual([1, []])
  expect(refused.stderr).toHaveLength(1)
  return refused.stderr[0] ?? ''
}

function fetchAs(url: string, path: string, bearer = token): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
}

function writeConfig(text: string, name = 'holdfast.config.ts'): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('holdfast serve', () => {
  it('says one line on stdout when it answers, and exits with 0 when it is told to stop', async () => {
    const { server, url } = await serving(['--store', 'memory:'], { HOLDFAST_TOKEN: token })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetchAs(url, '/v1/tasks')).status).toBe(200)
    expect((await fetchAs(url, '/v1/tasks', 'wrong')).status).toBe(401)
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(server.stdout).toEqual([`holdfast listening on ${url}`])
    expect(server.stderr.join('\n')).not.toContain('login=')
  })

  it.runIf(hasIpv6)('writes an IPv6 address in brackets', async () => {
    const { url } = await serving(['--store', 'memory:', '--host', '::1'], { HOLDFAST_TOKEN: token })
    expect(url).toMatch(/^http:\/\/\[::1\]:[0-9]+$/)
    expect((await fetchAs(url, '/v1/tasks')).status).toBe(200)
  })

  it('makes a token that only its owner reads, and keeps it', async () => {
    const first = await serving()
    const state = join(folder, 'state', 'holdfast')
    const made = readFileSync(join(state, 'token'), 'utf8').trim()
    expect(statSync(join(state, 'token')).mode & 0o777).toBe(0o600)
    expect(statSync(state).mode & 0o777).toBe(0o700)
    expect(existsSync(join(state, 'holdfast.db'))).toBe(true)
    expect((await fetchAs(first.url, '/v1/tasks', made)).status).toBe(200)
    expect([...first.server.stdout, ...first.server.stderr].join('\n')).not.toContain(made)
    await first.server.end('SIGKILL')
    const second = await serving()
    expect((await fetchAs(second.url, '/v1/tasks', made)).status).toBe(200)
  })

  it('prints a link that logs a browser in once, for longer than the server lives', async () => {
    const server = holdfast(['serve', '--port', '0'])
    const [[, url = ''], [, link = '', code = '']] = await Promise.all([
      server.line(/^holdfast listening on (\S+)$/),
      server.line(/(http\S+\/console#login=(\S+))$/),
    ])
    expect(link).toBe(`${url}/console#login=${code}`)
    const login = (to: string) =>
      fetch(`${to}/v1/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: to },
        body: JSON.stringify({ code }),
      })
    const answer = await login(url)
    expect(answer.status).toBe(200)
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await fetch(`${url}/v1/tasks`, { headers: { cookie } })).status).toBe(200)
    expect((await login(url)).status).toBe(401)
    await server.end('SIGKILL')
    const next = await serving()
    expect((await fetch(`${next.url}/v1/tasks`, { headers: { cookie } })).status).toBe(200)
    expect((await login(next.url)).status).toBe(401)
  })

  it('takes a flag before a variable, and a variable before the config file', async () => {
    writeConfig(`
      const agents: Record<string, () => string> = { mine: () => 'done' }
      export default { agents, store: 'sqlite:./config.db', token: 'of-config', limits: { treeDepth: 3, jsonDepth: 9 } }
    `)
    const env = { HOLDFAST_STORE: 'sqlite:./env.db', HOLDFAST_TOKEN: token, HOLDFAST_LIMITS: 'jsonDepth=10' }
    const { url } = await serving(['--store', 'sqlite:./flag.db'], env)
    expect(['flag.db', 'env.db', 'config.db'].map((name) => existsSync(join(folder, name)))).toEqual([
      true,
      false,
      false,
    ])
    expect((await fetchAs(url, '/v1/tasks', 'of-config')).status).toBe(401)
    expect(await (await fetchAs(url, '/v1/limits')).json()).toMatchObject({ treeDepth: 3, jsonDepth: 10 })
    const { agents } = (await (await fetchAs(url, '/v1/agents')).json()) as { agents: { name: string }[] }
    expect(agents.map(({ name }) => name).sort()).toEqual(['demo', 'echo', 'mine', 'script'])
  })

  it('takes the config file that is named instead of the usual one', async () => {
    writeConfig('throw new Error("not this one")')
    const path = writeConfig(`export default { store: 'memory:', token: '${token}', script: false }`, 'named.mjs')
    const { url } = await serving(['--config', path])
    const { agents } = (await (await fetchAs(url, '/v1/agents')).json()) as { agents: { name: string }[] }
    expect(agents.map(({ name }) => name)).toEqual(['demo', 'echo'])
  })

  it('logs JSON, and no secret even when everything is logged', async () => {
    const env = { HOLDFAST_TOKEN: token, HOLDFAST_TOKENS: 'alice=alices-0123456789', HOLDFAST_LOG_LEVEL: 'debug' }
    const { server, url } = await serving(['--store', 'memory:'], env)
    const login = await fetch(`${url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    await fetch(`${url}/v1/tasks?token=${token}`, { headers: { cookie } })
    await fetchAs(url, `/v1/tasks/${token}`)
    await fetchAs(url, '/v1/tasks', 'mistyped-0123456789')
    await server.end('SIGTERM')
    const lines = server.stderr.map((line) => JSON.parse(line) as { settings?: object })
    expect(lines.length).toBeGreaterThan(3)
    expect(lines.find(({ settings }) => settings)?.settings).toMatchObject({
      principals: ['owner', 'alice'],
      host: '127.0.0.1',
    })
    const text = server.stderr.join('\n')
    expect(text).not.toContain('0123456789')
    expect(text).not.toContain(cookie.slice('holdfast='.length))
  })
})

describe('holdfast serve refuses', () => {
  const configured = { env: { HOLDFAST_TOKEN: token } }

  it.each([
    [['--prot', '1'], {}, "holdfast: unknown option '--prot'. The nearest is --port"],
    [[], { HOLDFAST_TOKN: 'x' }, 'holdfast: There is no setting HOLDFAST_TOKN. The nearest is HOLDFAST_TOKEN'],
    [
      ['--host', '0.0.0.0'],
      {},
      'holdfast: Others can reach 0.0.0.0. Configure a token (HOLDFAST_TOKEN, or tokens of serve), or listen on 127.0.0.1',
    ],
  ])('%j with %j', async (args, env, line) => {
    expect(await refusal(['serve', '--port', '0', '--store', 'memory:', ...args], { env })).toBe(line)
  })

  it('a host that others reach though a token was made before', async () => {
    const { server } = await serving(['--store', 'memory:'])
    await server.end('SIGKILL')
    expect(await refusal(['serve', '--port', '0', '--host', '0.0.0.0'])).toContain('Configure a token')
  })

  it('a setting that the config file makes up, and a file that cannot be loaded', async () => {
    writeConfig('export default { agent: {} }')
    expect(await refusal(['serve', '--port', '0'])).toContain(
      'There is no setting agent, which holdfast.config.ts has. The nearest is agents',
    )
    writeConfig('throw new Error("two\\nlines")')
    expect(await refusal(['serve', '--port', '0'])).toContain('holdfast.config.ts cannot be loaded: two lines')
    writeConfig('export default { agents: { mine: 1 } }')
    expect(await refusal(['serve', '--port', '0'])).toContain('The agent mine is neither a function')
  })

  it('a SQLite file that another live process holds', async () => {
    const store = ['--store', 'sqlite:./held.db']
    const { server } = await serving(store)
    expect(await refusal(['serve', '--port', '0', ...store])).toMatch(
      /held\.db is in use by another process\. Stop that one first, or name another file with --store sqlite:PATH$/,
    )
    await server.end('SIGKILL')
    await serving(store)
  })

  it('a store of a newer major schema', async () => {
    const { server } = await serving(['--store', 'sqlite:./newer.db'])
    await server.end('SIGTERM')
    const database = new DatabaseSync(join(folder, 'newer.db'))
    database.exec('UPDATE holdfast_meta SET major = 99')
    database.close()
    expect(await refusal(['serve', '--port', '0', '--store', 'sqlite:./newer.db'])).toMatch(
      /schema 99\.\d+, newer than/,
    )
  })

  it('a port that is in use', async () => {
    const { url } = await serving(['--store', 'memory:'], configured.env)
    const { port } = new URL(url)
    const line = await refusal(['serve', '--port', port, '--store', 'memory:'], configured)
    const wayOut = 'Stop it, or choose another port with --port; 0 picks a free one'
    expect(line).toContain(`Another Holdfast listens on 127.0.0.1 port ${port}. ${wayOut}`)
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const taken = String((other.address() as AddressInfo).port)
    other.on('connection', (socket) => socket.destroy())
    const said = await refusal(['serve', '--port', taken, '--store', 'memory:'], configured)
    expect(said).toContain(`Another program listens on 127.0.0.1 port ${taken}. ${wayOut}`)
  })

  it('a port that is in use, before it goes on with anything in the store', async () => {
    const begun = await serving(['--store', 'sqlite:./begun.db'], configured.env)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ agent: 'script', input: { script: [{ hang: true }] } })
    const accepted = await fetch(`${begun.url}/v1/threads/t/runs`, { method: 'POST', headers, body })
    expect(accepted.status).toBe(202)
    await begun.server.end('SIGKILL')
    const { url } = await serving(['--store', 'memory:'], configured.env)
    // It says one line, and nothing of the task.
    await refusal(['serve', '--port', new URL(url).port, '--store', 'sqlite:./begun.db'], configured)
    const next = await serving(['--store', 'sqlite:./begun.db'], configured.env)
    const tasks = async () => ((await (await fetchAs(next.url, '/v1/tasks')).json()) as { tasks: object[] }).tasks
    await expect.poll(tasks).toMatchObject([{ attempt: 2 }])
  })

  it('a folder that cannot be written to', async () => {
    writeFileSync(join(folder, 'file'), '')
    const env = { XDG_STATE_HOME: join(folder, 'file') }
    expect(await refusal(['serve', '--port', '0'], { env })).toContain('file/holdfast cannot be made')
    const store = ['--store', 'sqlite:./file/holdfast.db']
    expect(await refusal(['serve', '--port', '0', ...store], configured)).toContain('holdfast.db cannot be made')
  })

  it('a token file that others can read', async () => {
    const { server } = await serving(['--store', 'memory:'])
    await server.end('SIGKILL')
    chmodSync(join(folder, 'state', 'holdfast', 'token'), 0o644)
    expect(await refusal(['serve', '--port', '0', '--store', 'memory:'])).toContain('can be read by others')
  })

  it('a Node that is too old', async () => {
    const fake = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.19.0' } })"
    const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(fake)}`]
    expect(await refusal(['serve'], { nodeFlags })).toBe('holdfast: Node 24 or later is needed; this is 22.19.0')
  })
})

describe('holdfast', () => {
  it('prints its version and its help', async () => {
    const version = holdfast(['--version'])
    expect((await version.ended).code).toBe(0)
    expect(version.stdout).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/)])
    const help = holdfast(['serve', '--help'])
    expect((await help.ended).code).toBe(0)
    expect(help.stdout.join('\n')).toContain('--port <number>')
  })

  it('ends with 2 when it does not understand the command', async () => {
    const unknown = holdfast(['sevre'])
    expect((await unknown.ended).code).toBe(2)
    expect(unknown.stderr).toEqual(["holdfast: unknown command 'sevre'. The nearest is serve"])
    const none = holdfast([])
    expect((await none.ended).code).toBe(2)
    expect(none.stderr.join('\n')).toContain('Usage: holdfast')
  })
})
