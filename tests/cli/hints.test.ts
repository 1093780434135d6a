import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { type CliEnd, cli } from './harness/cli.ts'
import { TerminalScreen } from './harness/terminal.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
})

afterAll(() => server.end())

/** What npm sets for what it starts, be it by `npx` or by a script. */
const underNpx = { npm_command: 'exec' }

function token(): string {
  return server.tokens['alice'] ?? ''
}

/** Asks the server by flags alone, as under npx. */
function asked(...args: readonly string[]): Promise<CliEnd> {
  return cli(['--url', server.url, '--token', token(), ...args], { env: underNpx })
}

describe('a hint', () => {
  it('begins as the command did: with npx, and for the server that a flag named', async () => {
    const start = `npx holdfast --url ${server.url}`
    const script = JSON.stringify({ script: [{ ask: { text: 'Go on?' } }] })
    const run = await asked('run', 'script', '--input', script, '--thread', 'h', '--detach')
    const id = run.stdout.trim()
    expect(run.stderr).toBe(`Follow it: ${start} logs ${id} -f\n`)
    const { why } = JSON.parse((await asked('inspect', id, '--json')).stdout) as { why: { command: string }[] }
    expect(why[0]?.command).toMatch(new RegExp(`^${start} answer q_\\w+ "…"$`))
    const ends = [
      await asked('send', id, 'hi'),
      await asked('cancel', id),
      await asked('cancel', 'bg_99'),
      await asked('run', 'nobody', 'hi'),
      await asked('ps', '--thread', 'empty'),
    ]
    for (const { stderr } of [run, ...ends]) {
      expect(stderr).toContain(`${start} `)
      expect(stderr.replaceAll(`${start} `, '')).not.toMatch(/holdfast [a-z]/)
      expect(stderr).not.toContain(token())
    }
  })

  it('names the program alone where neither is so', async () => {
    const { stdout, stderr } = await cli(['run', 'echo', 'hi', '--detach'], { server })
    expect(stderr).toBe(`Follow it: holdfast logs ${stdout.trim()} -f\n`)
  })

  it('begins so on a terminal too, where a run asks and where somebody detaches', async () => {
    const input = JSON.stringify({ script: [{ ask: { text: 'Go on?' } }] })
    const screen = new TerminalScreen(
      ['--url', server.url, '--token', token(), 'run', 'script', '--input', input, '--thread', 'term'],
      { env: underNpx, columns: 160 },
    )
    await screen.shows(/Answer it: npx holdfast --url \S+ answer q_\w+ TEXT/)
    screen.type('\u0003')
    expect(await screen.ended).toBe(130)
    expect(screen.text).toMatch(
      /Come back: npx holdfast --url \S+ logs bg_\d+ -f; stop it: npx holdfast --url \S+ cancel/,
    )
    const attached = new TerminalScreen(['--url', server.url, '--token', token(), 'attach', 'new'], {
      env: underNpx,
      columns: 160,
    })
    await attached.shows(/❯/)
    attached.type('hello\r')
    await attached.shows(/say who answers: npx holdfast --url \S+ attach new --agent NAME/)
    attached.type('\u0003')
    await attached.shows(/Come back: npx holdfast --url \S+ attach new/)
  })

  it('of a server that is not there starts one where npx would', async () => {
    const { code, stderr } = await cli(['threads', '--url', 'http://127.0.0.1:9'], { env: underNpx })
    expect(code).toBe(7)
    expect(stderr).toContain('Start one with `npx holdfast serve`')
  })

  it('of doctor begins so', async () => {
    const env = { ...underNpx, HOLDFAST_URL: 'http://127.0.0.1:9', XDG_STATE_HOME: '/nonexistent' }
    expect((await cli(['doctor'], { env })).stdout).toContain('npx holdfast serve starts one')
  })
})
