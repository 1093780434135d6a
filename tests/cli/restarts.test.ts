import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { expectStatus } from '../server/harness/client.ts'
import { logOf, taskOf } from '../server/harness/reads.ts'
import type { TestServer } from '../server/harness/server.ts'
import { RunningCli } from './harness/cli.ts'
import { LastingServer } from './harness/lasting-server.ts'
import { keys, TerminalScreen } from './harness/terminal.ts'
import { runScript } from './harness/work.ts'

/** Kills the server and starts it again once each of these ops has been printed, and lets the run go on to the next. */
async function killAt(
  ops: readonly number[],
  server: TestServer,
  run: Pick<Task, 'id'>,
  reached: (op: number) => Promise<unknown>,
): Promise<void> {
  for (const op of ops) {
    await reached(op)
    await server.restart()
    await tell(server, run)
  }
}

async function tell(server: TestServer, { id }: Pick<Task, 'id'>): Promise<void> {
  await expectStatus(202, server.request('POST', `/v1/tasks/${id}/messages`, { body: { content: 'go' } }))
}

/**
 * Many short ops: each is a step, so that a killed run goes on. Some way after each of these it waits to be told, so that it is
 * not over before it is killed, however long that takes.
 */
function ticking(ops: readonly number[]): object[] {
  const ticks = Array.from({ length: 60 }, (_, op) => ({ emit: 'tick', payload: { op }, times: 5, everyMs: 1 }))
  return ticks.flatMap((tick, op) => (ops.includes(op - 10) ? [{ receive: {} }, tick] : [tick]))
}

const numbersIn = (text: string, line: RegExp): number[] => Array.from(text.matchAll(line), ([, seq]) => Number(seq))
const numbersOf = (events: readonly Event[]): number[] => events.map(({ seq }) => seq)

describe('when the server is killed and started again on its port', () => {
  it.each([
    ['lines', [], /^(\d+)\t/gm],
    ['JSON', ['--json'], /^\{"thread":"t","seq":(\d+),/gm],
  ] as const)('EVNT-06 logs -f as %s survives kill -9 without a repeat or a gap', async (_form, flags, line) => {
    const server = await LastingServer.open('sqlite')
    const ops = [1, 15, 30]
    const run = await runScript(server, 't', ticking(ops))
    const running = new RunningCli(['logs', run.id, '-f', '--exit-status', ...flags], { server })
    await killAt(ops, server, run, (op) => running.until(new RegExp(`"op":${op},"n":`)))
    const { code, stdout, stderr } = await running.ended
    expect(numbersIn(stdout, line)).toEqual(numbersOf(await logOf(server, 't')))
    expect(stdout).toContain('task.resumed')
    expect(stderr).toMatch(/The connection is lost[\s\S]*The server is heard again/)
    expect(code).toBe(0)
  })

  it('EVNT-06 attach in a pipe survives kill -9 without a repeat or a gap', async () => {
    const server = await LastingServer.open('sqlite')
    const run = await runScript(server, 't', ticking([2, 25]))
    const running = new RunningCli(['attach', 't'], { server })
    await killAt([2, 25], server, run, (op) => running.until(new RegExp(`"op":${op},"n":`)))
    await running.until(/\ttask\.completed\t.*\n/)
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(numbersIn(stdout, /^bg_\d+\t(\d+)\t/gm)).toEqual(numbersOf(await logOf(server, 't')))
    expect(await taskOf(server, run.id)).toMatchObject({ status: 'completed' })
    expect(code).toBe(130)
  })

  it('EVNT-06 attach on a terminal survives kill -9 without a repeat or a gap, and goes on listening', async () => {
    const server = await LastingServer.open('sqlite')
    const run = await runScript(server, 't', [{ receive: {} }, ...ticking([2, 25])])
    const screen = new TerminalScreen(['attach', 't'], { server, columns: 60, rows: 10 })
    await screen.shows(new RegExp(`${run.id} running`))
    screen.type(`begin${keys.enter}`)
    await killAt([2, 25], server, run, (op) => screen.shows(new RegExp(`"op":${op},"n":`)))
    await screen.shows(new RegExp(`✔ ${run.id} completed[\\s\\S]*idle`))
    const custom = (await logOf(server, 't')).filter(({ type }) => type === 'custom')
    expect(numbersIn(screen.text, /^ *#(\d+) /gm)).toEqual(numbersOf(custom))
    expect(screen.text).toMatch(/The connection is lost[\s\S]*The server is heard again/)
    screen.type(`Still there?${keys.enter}`)
    await screen.shows(/❯ Still there\?\nscript bg_\d+\nStill there\?\n✔/)
  })

  it('says which output does not count after a kill -9 in the middle of it', async () => {
    const server = await LastingServer.open('sqlite')
    // Long enough that it is still at it when it is killed, however long that takes.
    const script = [{ say: 'kept ' }, { receive: {} }, { emit: 'tick', times: 10_000, everyMs: 5 }]
    const run = await runScript(server, 't', script)
    const followed = [
      ['logs', run.id, '-f'],
      ['attach', 't'],
    ].map((args) => new RunningCli(args, { server }))
    for (const each of followed) await each.until(/kept /)
    await tell(server, run)
    for (const each of followed) await each.until(/tick \{"n":9\}/)
    await server.restart()
    const said = /task\.resumed\tattempt 2 on \S+; events (\d+)-(\d+) do not count\n/
    for (const each of followed) {
      const [, first, last] = await each.until(said)
      const events = await logOf(server, 't')
      const resumed = events.find(({ type }) => type === 'task.resumed')
      expect(resumed?.data).toMatchObject({ keep: Number(first) - 1 })
      const emits = events.filter(({ seq, type }) => type === 'custom' && seq < (resumed?.seq ?? 0))
      expect(emits.at(-1)?.seq).toBe(Number(last))
    }
  })

  it('run --wait and run --follow wait for a server that is killed and comes back', async () => {
    const server = await LastingServer.open('sqlite')
    const script = [{ say: 'one ' }, { sleepMs: 700 }, { say: 'two' }, { return: 'done' }]
    const input = JSON.stringify({ script })
    const waiting = new RunningCli(['run', 'script', '--input', input, '--wait'], { server })
    const following = new RunningCli(['run', 'script', '--input', input, '--follow'], { server })
    await following.until(/one /)
    await waiting.until(/in thread/, 'stderr')
    await server.restart()
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'done\n' })
    expect(await following.ended).toMatchObject({ code: 0, stdout: 'one two\n' })
  })
})
