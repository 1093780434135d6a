import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { spawnScript } from '../server/harness/reads.ts'
import { startRelay } from '../server/harness/relay.ts'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { cli, RunningCli } from './harness/cli.ts'
import { keys, TerminalScreen } from './harness/terminal.ts'
import { ended, logged, runScript } from './harness/work.ts'

const iso = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'

let server: TestServer
let done: Task
let hanging: Task
let child: string

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
  done = await runScript(server, 'past', [{ say: 'hi' }], { description: 'a\tb \u001b[31mred 海藻' })
  await ended(server, done)
  hanging = await runScript(server, 'now', [{ spawn: { script: [{ hang: true }], name: 'reader' } }, { hang: true }])
  await logged(server, 'now', /"name":"reader".*task\.started/s)
  const { body } = await server.request<{ tasks: Task[] }>('GET', `/v1/tasks?parent=${hanging.id}`)
  child = body.tasks[0]?.id ?? ''
})

afterAll(() => server.end())

function rows(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
}

describe('holdfast ps in a pipe', () => {
  it('lists what is live, newest first, whole values with tabs between and no header', async () => {
    const { code, stdout, stderr } = await cli(['ps'], { server })
    expect([code, stderr]).toEqual([0, ''])
    const time = expect.stringMatching(new RegExp(`^${iso}$`)) as string
    expect(rows(stdout)).toEqual([
      [child, 'running', 'script', 'reader', 'now', hanging.id, time, time, 'script'],
      [hanging.id, 'running', 'script', '', 'now', '', time, time, 'script'],
    ])
  })

  it('has one line per task, whatever is in its description', async () => {
    const { stdout } = await cli(['ps', '-a', '--thread', 'past'], { server })
    expect(rows(stdout)).toHaveLength(1)
    expect(rows(stdout)[0]).toHaveLength(9)
    expect(rows(stdout)[0]?.at(-1)).toBe('a b red 海藻')
  })

  it('gives ids alone for other commands', async () => {
    expect((await cli(['ps', '-q'], { server })).stdout).toBe(`${child}\n${hanging.id}\n`)
    expect((await cli(['ps', '-aq', '--status', 'completed,failed'], { server })).stdout).toBe(`${done.id}\n`)
  })

  it('is one document for programs, nested if it is asked for a tree', async () => {
    const flat = JSON.parse((await cli(['ps', '--json'], { server })).stdout) as { tasks: Task[] }
    expect(flat.tasks.map(({ id }) => id)).toEqual([child, hanging.id])
    const nested: unknown = JSON.parse((await cli(['ps', '--json', '--tree'], { server })).stdout)
    expect(nested).toMatchObject({ tasks: [{ id: hanging.id, children: [{ id: child, children: [] }] }] })
  })

  it('says on stderr what an empty list means, and nothing on stdout', async () => {
    const empty = await cli(['ps', '--thread', 'past'], { server })
    expect(empty).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No live task in past. Those that have ended: holdfast ps -a\n',
    })
    expect((await cli(['ps', '--thread', 'past', '--quiet'], { server })).stderr).toBe('')
  })

  it('follows cursors until the list is whole, or as long as is wanted', async () => {
    const accepted = await Promise.all(Array.from({ length: 30 }, () => runScript(server, 'many', [{ say: 'x' }])))
    await Promise.all(accepted.map((task) => ended(server, task)))
    expect(rows((await cli(['ps', '-a', '--thread', 'many'], { server })).stdout)).toHaveLength(30)
    expect(rows((await cli(['ps', '-a', '--thread', 'many', '--limit', '7'], { server })).stdout)).toHaveLength(7)
  })

  it('that is closed early ends without a word', async () => {
    const ps = new RunningCli(['ps', '-a'], { server })
    ps.child.stdout.destroy()
    expect(await ps.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('shows every change as one more document while it watches, and none twice', async () => {
    const watching = new RunningCli(['ps', '--watch', '--json', '--thread', 'one'], { server })
    await watching.until(/^\{"tasks":\[\]\}\n/)
    const task = await spawnScript(server, 'one', [{ hang: true }])
    await watching.until(new RegExp(`"id":"${task.id}".*"status":"running"`))
    await server.request('POST', `/v1/tasks/${task.id}/cancel`, { body: {} })
    await watching.until(/"running".*\n\{"tasks":\[\]\}\n$/s)
    const documents = watching.stdout.trimEnd().split('\n')
    expect(documents.filter((line, at) => line === documents[at - 1])).toEqual([])
    expect(watching.stderr).toBe('')
  })

  it('goes on watching after the server was killed and started again, and says so', async () => {
    const own = await startServer({ store: 'sqlite', env: { HOLDFAST_LEASE_MS: '1000' } })
    onTestFinished(() => own.end())
    const relay = await startRelay(() => own.url)
    const watching = new RunningCli(['ps', '--watch', '-q', '-a', '--url', relay.url], { server: own })
    const first = await spawnScript(own, 't', [{ say: 'x' }])
    await watching.until(new RegExp(`^${first.id}$`, 'm'))
    await own.kill9()
    await watching.until(/The connection is lost/, 'stderr')
    await own.start()
    const second = await spawnScript(own, 't', [{ say: 'x' }])
    await watching.until(new RegExp(`^${second.id}\n${first.id}$`, 'm'))
    await watching.until(/The server is heard again/, 'stderr')
  })
})

describe('holdfast ps on a terminal', () => {
  it('is an aligned table with glyph and word, no line wider than the terminal', async () => {
    const screen = new TerminalScreen(['ps', '-a', '--tree'], { server, columns: 70 })
    expect(await screen.ended).toBe(0)
    const lines = screen.text.split('\n')
    expect(lines[0]).toMatch(/^ID +STATUS +AGENT +NAME +THREAD +AGE +RAN +DESC/)
    expect(screen.text).toMatch(/● running/)
    expect(screen.text).toMatch(/✔ completed/)
    expect(screen.text).toMatch(new RegExp(`\n${hanging.id} .*\n└─ ${child} `))
    expect(screen.received).toContain('\u001b[')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(70)
  })

  it.each([
    [{ NO_COLOR: '1' }, []],
    [{}, ['--no-color']],
  ])('has no colour with %j and %j', async (env, flags) => {
    const screen = new TerminalScreen(['ps', ...flags], { server, env })
    expect(await screen.ended).toBe(0)
    expect(screen.text).toContain('● running')
    expect(screen.received).not.toContain('\u001b[1m')
    expect(screen.received).not.toContain('\u001b[36m')
  })

  it('is as in a pipe where CI is set', async () => {
    const table = new TerminalScreen(['ps'], { server, env: { CI: 'true' }, columns: 200 })
    expect(await table.ended).toBe(0)
    expect(table.text).not.toContain('STATUS')
  })

  it('is painted in place while it watches, and ends with 130 at Ctrl-C', async () => {
    const screen = new TerminalScreen(['ps', '--watch', '--thread', 'watched'], { server })
    await screen.shows(/No such task/)
    const task = await runScript(server, 'watched', [{ hang: true }])
    await screen.shows(new RegExp(`${task.id} .*● running`))
    await server.request('POST', `/v1/tasks/${task.id}/cancel`, { body: {} })
    await screen.until((text) => (/^No such task\.$/.test(text.trim()) ? text : undefined))
    screen.type(keys.interrupt)
    expect(await screen.ended).toBe(130)
  })
})
