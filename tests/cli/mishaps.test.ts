import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { cli, cliEnv, program } from './harness/cli.ts'
import { tempFolder } from './harness/local-server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
})

afterAll(() => server.end())

/** Runs a command whose output goes where nothing has room. */
async function intoFullDisk(args: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [program, ...args], {
    env: cliEnv({ server }),
    stdio: ['ignore', full, 'pipe'],
  })
  const said = child.stderr ? text(child.stderr) : ''
  const [code] = (await once(child, 'close')) as [number]
  closeSync(full)
  return { code, stderr: await said }
}

describe('a command that goes wrong', () => {
  it.skipIf(!existsSync('/dev/full')).each([[['agents']], [['version']], [['--help']], [['completion', 'bash']]])(
    'says so where its output cannot be written: %j',
    async (args) => {
      const { code, stderr } = await intoFullDisk(args)
      expect(code).toBe(1)
      expect(stderr).toContain('holdfast: What it printed could not be written: ENOSPC')
    },
  )

  it.skipIf(!existsSync('/dev/full'))('says so to programs too', async () => {
    const { code, stderr } = await intoFullDisk(['agents', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ title: expect.stringContaining('ENOSPC') as string, exitCode: 1 })
  })

  it.each([[['ps']], [['serve', '--port', '0']], [['backup', 'copy.db']]])(
    'does not pass for one that went well if its config file waits for ever: %j',
    async (args) => {
      const folder = tempFolder()
      writeFileSync(join(folder, 'holdfast.config.ts'), 'await new Promise(() => {})\nexport default {}')
      const { code, stdout, stderr } = await cli(args, { folder, env: { XDG_STATE_HOME: folder } })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^holdfast: It came to a halt before it was done.*config file.*\n$/)
    },
  )

  it('says to programs that its time has passed', async () => {
    const { code, stderr } = await cli(['events', '--json', '--quiet', '--timeout', '300ms'], { server })
    expect(code).toBe(124)
    expect(JSON.parse(stderr)).toEqual({
      type: 'about:blank',
      title: 'gave up; --timeout has passed',
      exitCode: 124,
    })
  })

  it('does not blame its own time for that of a task', async () => {
    const input = JSON.stringify({ script: [{ hang: true }] })
    const args = ['run', 'script', '--input', input, '--timeout-ms', '50', '--wait']
    const { code, stderr } = await cli(args, { server })
    expect(code).toBe(124)
    expect(stderr).not.toContain('--timeout')
  })

  it('refuses a time limit that no timer can wait for', async () => {
    const { code, stderr } = await cli(['ps', '--timeout', '25d'], { server })
    expect(code).toBe(2)
    expect(stderr).toContain('24d')
  })

  it.each([
    'http://user:geheim@127.0.0.1:9',
    'http://:geheim@127.0.0.1:9',
    'http://127.0.0.1:9/?a=geheim',
    'http://127.0.0.1:9/#geheim',
  ])('refuses a URL that holds more than where a server is: %s', async (url) => {
    const { code, stderr } = await cli(['ps', '--url', url, '--token', 'x'])
    expect(code).toBe(2)
    expect(stderr).toContain('--url')
    expect(stderr).not.toContain('geheim')
  })

  it.each([['inspect'], ['tree'], ['logs'], ['cancel']])('names the task that is not there: %s', async (command) => {
    const { code, stderr } = await cli([command, 'bg_99'], { server })
    expect(code).toBe(5)
    expect(stderr).toContain('holdfast: There is no task bg_99\n')
  })

  it.each([['inspect'], ['tree']])(
    'says of a thread that it is no task, and lists those of it: %s',
    async (command) => {
      await cli(['run', 'echo', 'hello', '--thread', 'x1', '--wait'], { server })
      const { code, stderr } = await cli([command, 'x1'], { server })
      expect(code).toBe(5)
      expect(stderr).toContain(
        'holdfast: x1 is a thread, not a task\n  List its tasks with `holdfast ps -a --thread x1`.\n',
      )
    },
  )

  it('says so where the folder it was started in is gone', async () => {
    const script = 'rmdir "$PWD" && exec "$0" "$@"'
    const folder = tempFolder()
    const child = spawn('sh', ['-c', script, process.execPath, program, 'ps'], { cwd: folder, env: cliEnv({ server }) })
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number]>])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^holdfast: ENOENT: .*\n$/)
  })

  it('is told by doctor of a URL that no command takes', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder, HOLDFAST_URL: 'ftp://127.0.0.1' }
    const { code, stdout } = await cli(['doctor'], { folder, env })
    expect(code).toBe(1)
    expect(stdout).toContain('wrong\tserver\tHOLDFAST_URL: "ftp://127.0.0.1" is no URL of a server')
  })

  it('tells of several tasks only once that its time has passed', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const end = await cli(['cancel', 'bg_1', 'bg_2', '--url', url, '--token', 'x', '--timeout', '500ms'])
    expect(end).toEqual({ code: 124, stdout: '', stderr: 'holdfast: gave up; --timeout has passed\n' })
  })

  it.each([['<html></html>'], ['null'], ['']])(
    'takes nothing for an answer of Holdfast that is none: %j',
    async (body) => {
      const other = createHttpServer((_request, response) => response.end(body)).listen(0, '127.0.0.1')
      onTestFinished(() => void other.close())
      await once(other, 'listening')
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
      for (const args of [['ps'], ['run', 'echo', 'hello'], ['inspect', 'bg_0'], ['cancel', 'bg_0']]) {
        const { code, stdout, stderr } = await cli([...args, '--url', url, '--token', 'x'])
        expect([code, stdout]).toEqual([7, ''])
        expect(stderr).toContain('holdfast: It is not Holdfast that answered; is the URL right?\n')
      }
    },
  )

  it.each([404, 405, 500, 501])('takes an answer %i of another web server for none of Holdfast', async (status) => {
    const other = createHttpServer((_request, response) => response.writeHead(status).end('<html></html>'))
    other.listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    for (const args of [['ps'], ['inspect', 'bg_0'], ['run', 'echo', 'hello'], ['run', 'echo', 'hello', '--wait']]) {
      const { code, stderr } = await cli([...args, '--url', url, '--token', 'x'])
      expect(code).toBe(7)
      expect(stderr).toMatch(
        new RegExp(`^holdfast: ${url}/? is no Holdfast server: it answered ${status}\n  Start one`),
      )
    }
  })

  it.each([[['ps']], [['inspect', 'bg_0']], [['run', 'echo', 'hello', '--wait']], [['attach', 'demo']]])(
    'names the URL without the path of the API where that was given too: %j',
    async (args) => {
      const { code, stderr } = await cli([...args, '--url', `${server.url}/v1`], { server })
      expect(code).toBe(7)
      expect(stderr).toContain(`${server.url}/v1 is no Holdfast server: `)
      expect(stderr).toContain(`; try ${server.url}\n`)
    },
  )

  it.each(['', 'two words', 'line\nend', '秘密'])('refuses what cannot be a token: %j', async (token) => {
    const { code, stderr } = await cli(['ps', '--token', token], { server })
    expect([code, stderr]).toEqual([
      2,
      'holdfast: The token has to be visible ASCII without a space. Give that of the server\n',
    ])
  })
})
