import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Question } from '../../src/core/question.ts'
import type { Task } from '../../src/core/task.ts'
import { cli } from './harness/cli.ts'
import { LocalServer, tempFolder } from './harness/local-server.ts'
import { TerminalScreen } from './harness/terminal.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const free = ['dev', '--port', '0']
// Of the processor: by the clock it takes longer on a machine that has other work.
const workMsMax = 5_000
// Less than the tasks of other servers are given to end by themselves.
const stopMsMax = 20_000

interface Snapshot {
  readonly tasks: readonly Task[]
  readonly questions: readonly Question[]
}

function snapshot(server: LocalServer): Promise<Snapshot> {
  return server.get<Snapshot>('/v1/threads/demo')
}

/** A port that somebody else listens on, and one above it that is free as well as anybody can tell. */
async function takenPort(): Promise<number> {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void other.close())
  return (other.address() as AddressInfo).port
}

/** How long all threads of a process were at work. Linux only. */
function workedMs(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold anything, spaces too. The kernel counts in hundredths of a second.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return 10 * (Number(user) + Number(system))
}

describe('holdfast dev', () => {
  it('starts a server and a demo that streams, within five seconds of work', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder, args: free })
    const log = await server.follow('/v1/threads/demo/events', /"bg_3".*"text\.delta"/s)
    if (process.platform === 'linux') expect(workedMs(server.process.child.pid)).toBeLessThan(workMsMax)
    expect(log).toContain('question.asked')
    const { tasks, questions } = await snapshot(server)
    expect(tasks.map(({ status }) => status)).toEqual(['running', 'running', 'running', 'running'])
    expect(questions).toHaveLength(1)
    expect(server.process.stdout).toBe(`holdfast listening on ${server.url}\n`)
    const said = server.process.stderr
    expect(said).toContain(`process ${server.process.child.pid}\n`)
    expect(said).toMatch(/^Holdfast +\d+\.\d+\.\d+/)
    expect(said).toContain(`Server    ${server.url}\n`)
    expect(said).toContain(`Store     ${join(folder, 'holdfast', 'holdfast.db')}\n`)
    expect(said).toContain('Ctrl-C stops; tasks stay\n')
    expect(said).toContain(`holdfast --url ${server.url} attach demo\n`)
    expect(said).toContain(`Again     holdfast --url ${server.url} run demo "What holds fast?"\n`)
    expect(said).not.toContain('"level"')
  })

  it('goes on with the demo after kill -9 and a new start, and starts no other', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder, args: free })
    await server.follow('/v1/threads/demo/events', /"bg_3".*"text\.delta"/s)
    await server.end('SIGKILL')
    const next = await LocalServer.start({ folder, args: free })
    expect(next.process.stderr).toContain('bg_0, thread demo, goes on from before')
    await next.follow('/v1/threads/demo/events', /"task\.resumed".*"text\.delta"/s)
    const { tasks, questions } = await snapshot(next)
    expect(tasks).toHaveLength(4)
    expect(questions).toHaveLength(1)
    expect(await next.post('/v1/threads/demo/cancel', {})).toMatchObject({ cancelled: { length: 4 } })
    await next.follow('/v1/threads/demo/events?task=bg_0')
    await next.end('SIGINT')
    const third = await LocalServer.start({ folder, args: free })
    expect(third.process.stderr).toMatch(/bg_\d+, thread demo, started/)
  })

  it('takes the next port where the port is taken, and says so', async () => {
    const port = await takenPort()
    const server = await LocalServer.start({ folder: tempFolder(), args: ['dev', '--port', String(port)] })
    const now = Number(new URL(server.url).port)
    expect(now).toBeGreaterThan(port)
    expect(server.process.stderr).toContain(`Port ${port} is taken; this is ${now}.\n`)
  })

  it('prints where the console is in one line, which logs in the owner of a token that was given', async () => {
    const server = await LocalServer.start({ folder: tempFolder(), args: [...free, '--no-demo'] })
    const said = server.process.stderr
    expect(said).not.toContain(LocalServer.token)
    const [, url, code] =
      said.match(/^Console {3}(\S+)\/console#login=(\S+) {2}\(logs in once, within 10 minutes\)$/m) ?? []
    expect(url).toBe(server.url)
    expect(said.match(/\/console/g)).toHaveLength(1)
    const login = () =>
      fetch(`${server.url}/v1/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
    expect(await (await login()).json()).toEqual({ principal: 'owner' })
    expect((await login()).status).toBe(401)
  })

  it('prints a link to log in by where the token is made', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({
      folder,
      args: [...free, '--no-demo'],
      env: { HOLDFAST_TOKENS: 'bob=b0b' },
    })
    expect(server.process.stderr).not.toContain('login')
    expect(server.process.stderr).toContain(`Console   ${server.url}/console\n`)
    expect(server.process.stderr).not.toMatch(/^(Demo|Again)/m)
    const screen = new TerminalScreen([...free, '--store', 'memory:'], { folder, env: { XDG_STATE_HOME: folder } })
    const [, url] = await screen.shows(/Console {3}(http:\S+)\/console#login=\S+/)
    await screen.shows(new RegExp(`^holdfast listening on ${url}$`, 'm'))
    await screen.shows(/memory: keeps nothing/)
  })

  it('stops at Ctrl-C without waiting for the demo', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder, args: free })
    await server.follow('/v1/threads/demo/events', /"text\.delta"/)
    const askedAt = performance.now()
    expect(await server.end('SIGINT')).toBe(0)
    expect(performance.now() - askedAt).toBeLessThan(stopMsMax)
  })

  it.each([
    ['SIGINT', 'sqlite:./dev.db', 'Stopping; what has not ended goes on at the next start'],
    ['SIGTERM', 'memory:', 'Stopping; memory: keeps nothing'],
  ] as const)('says at %s on %s: %s', async (signal, store, said) => {
    const server = await LocalServer.start({ folder: tempFolder(), args: [...free, '--store', store, '--no-demo'] })
    expect(await server.end(signal)).toBe(0)
    expect(server.process.stderr.endsWith(`${said}\n`)).toBe(true)
  })

  it('gives the demo to the first who can log in where there is no owner', async () => {
    const tokens = `alice=${LocalServer.token},bob=b0b`
    const server = await LocalServer.start({ folder: tempFolder(), args: free, env: { HOLDFAST_TOKENS: tokens } })
    expect((await snapshot(server)).tasks).not.toEqual([])
  })

  it('ends with 1 and one line where it cannot start', async () => {
    const refused = await cli(['dev', '--store', 'nonsense'], { folder: tempFolder() })
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^holdfast: --store: [^\n]+\n$/),
    })
  })

  it('refuses a store that another server has open, in one line', async () => {
    const folder = tempFolder()
    await LocalServer.start({ folder, args: free })
    const second = await cli(free, { folder, env: { XDG_STATE_HOME: folder } })
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(/^holdfast: The store \S+ is in use by another process\. [^\n]+\n$/)
  })
})

describe('npm start', () => {
  it('is holdfast dev with the Node of the repository', async () => {
    const folder = tempFolder()
    const { PATH = '' } = process.env
    const env = { PATH, HOME: folder, XDG_STATE_HOME: folder, HOLDFAST_TOKEN: LocalServer.token }
    const npm = spawn('npm', ['start', '--silent', '--', '--port', '0'], { cwd: root, env, detached: true })
    onTestFinished(() => void process.kill(-(npm.pid ?? 0), 'SIGKILL'))
    let [out, err] = ['', '']
    npm.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    for await (const text of npm.stdout.setEncoding('utf8')) {
      out += text as string
      if (out.includes('\n')) break
    }
    expect(out, err).toMatch(/^holdfast listening on http:\/\/127\.0\.0\.1:\d+\n$/)
    await expect.poll(() => err).toContain('npx holdfast')
  })
})
