import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { cli } from './harness/cli.ts'
import { TerminalScreen } from './harness/terminal.ts'
import { ended, runScript } from './harness/work.ts'

let server: TestServer
let root: Task

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
  const leaf = { spawn: { script: [{ fail: 'no' }], name: 'leaf', wait: true } }
  root = await runScript(server, 'demo', [{ spawn: { script: [leaf], name: 'branch', wait: true } }, leaf])
  await ended(server, root)
  await ended(server, await runScript(server, 'other', [{ say: 'x' }]))
})

afterAll(() => server.end())

async function idOf(name: string, parent: string): Promise<string> {
  const { body } = await server.request<{ tasks: Task[] }>('GET', `/v1/tasks?parent=${parent}&name=${name}`)
  return body.tasks[0]?.id ?? ''
}

describe('holdfast tree', () => {
  it('draws the whole tree from its root, whichever task is named', async () => {
    const [branch, leaf] = [await idOf('branch', root.id), await idOf('leaf', root.id)]
    const deep = await idOf('leaf', branch)
    const { code, stdout } = await cli(['tree', deep], { server })
    expect(code).toBe(0)
    expect(stdout.replaceAll(/ {2}\d+s/g, '')).toBe(
      [
        `✔ completed  ${root.id}  script`,
        `├─ ✔ completed  ${branch}  branch  script`,
        `│  └─ ✘ failed  ${deep}  leaf  ◀  script`,
        `└─ ✘ failed  ${leaf}  leaf  script`,
        '',
      ].join('\n'),
    )
  })

  it('is nested for programs', async () => {
    const { stdout } = await cli(['tree', root.id, '--json'], { server })
    expect(JSON.parse(stdout)).toMatchObject({
      id: root.id,
      children: [{ name: 'branch', children: [{ name: 'leaf', children: [] }] }, { name: 'leaf' }],
    })
  })

  it('fits a terminal', async () => {
    const screen = new TerminalScreen(['tree', root.id], { server, columns: 30 })
    expect(await screen.ended).toBe(0)
    expect(screen.text.split('\n').every((line) => line.length <= 30)).toBe(true)
  })
})

describe('holdfast threads', () => {
  it('lists threads, those last written to first', async () => {
    const { code, stdout } = await cli(['threads'], { server })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^other\t\d+\t1\t\d{4}-\S+Z\ndemo\t\d+\t1\t\d{4}-\S+Z\n$/)
    expect((await cli(['threads', '--limit', '1'], { server })).stdout).toMatch(/^other\t.*\n$/)
    const { threads } = JSON.parse((await cli(['threads', '--json'], { server })).stdout) as { threads: object[] }
    expect(threads).toMatchObject([{ thread: 'other' }, { thread: 'demo' }])
  })

  it('is a table on a terminal', async () => {
    const screen = new TerminalScreen(['threads'], { server })
    expect(await screen.ended).toBe(0)
    expect(screen.text).toMatch(/^THREAD +EVENTS +FIRST KEPT +LAST EVENT\nother +\d+ +1 +\d+s ago\n/)
  })
})

describe('holdfast agents', () => {
  it('lists agents, with their schemas if asked for', async () => {
    const { stdout } = await cli(['agents'], { server })
    expect(stdout).toContain('script\t\tRuns the program in its input\t\n')
    const one = await cli(['agents', 'script', '--schema'], { server })
    const [name, , , , schema = ''] = one.stdout.trimEnd().split('\t')
    expect([name, JSON.parse(schema)]).toEqual(['script', expect.objectContaining({ type: 'object' })])
    const { agents } = JSON.parse((await cli(['agents', '--json'], { server })).stdout) as {
      agents: { name: string }[]
    }
    expect(agents.map((agent) => agent.name)).toContain('echo')
  })

  it('names the nearest to one that is not there', async () => {
    const { code, stderr } = await cli(['agents', 'scrpt'], { server })
    expect(code).toBe(5)
    expect(stderr).toMatch(/^holdfast: The server has no agent scrpt\. The nearest is script\n/)
  })
})

describe('holdfast version', () => {
  it('says what it is without a server', async () => {
    expect(await cli(['version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^holdfast \d+\.\d+\.\d+\S* \(Node 24\.\S+\)\n$/) as string,
      stderr: '',
    })
    const { stdout } = await cli(['version', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      version: (await cli(['--version'])).stdout.trim(),
      node: process.versions.node,
    })
  })
})
