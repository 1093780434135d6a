import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { freshThread, onSharedServer } from '../server/harness/on-each-server.ts'
import { logOf, messagesOf, taskOf, textOf } from '../server/harness/reads.ts'
import { type CliOptions, cli, RunningCli } from './harness/cli.ts'
import { keys, TerminalScreen } from './harness/terminal.ts'
import { runScript } from './harness/work.ts'

const scripted = (...script: readonly unknown[]): readonly string[] => ['script', '--input', JSON.stringify({ script })]

onSharedServer(['memory'], (_kind, server) => {
  const run = (args: readonly string[], options: CliOptions = {}) =>
    cli(['run', ...args], { server: server(), ...options })

  describe('holdfast run', () => {
    it('prints the id and leaves where nobody watches, as with --detach', async () => {
      for (const flags of [[], ['--detach']]) {
        const { code, stdout, stderr } = await run(['echo', 'hi', ...flags])
        expect([code, stdout]).toEqual([0, expect.stringMatching(/^bg_\d+\n$/)])
        expect(stderr).toBe(`Follow it: holdfast logs ${stdout.trim()} -f\n`)
      }
      const quiet = await run(['echo', 'hi', '--quiet'])
      expect(quiet).toMatchObject({ code: 0, stderr: '' })
      const json = await run(['echo', 'hi', '--json'])
      expect(JSON.parse(json.stdout)).toMatchObject({ agent: 'echo', type: 'run', description: 'hi' })
      expect(json.stderr).toBe('')
    })

    it('prints the result with --wait, a text as it is and anything else as JSON', async () => {
      expect(await run(['echo', 'hi', '--wait'])).toMatchObject({ code: 0, stdout: 'hi\n' })
      const returned = await run([...scripted({ say: 'not this' }, { return: { a: 1 } }), '--wait'])
      expect(returned).toMatchObject({ code: 0, stdout: '{"a":1}\n' })
      const json = await run(['echo', 'hi', '--wait', '--json'])
      expect(JSON.parse(json.stdout)).toMatchObject({ status: 'completed', result: 'hi' })
    })

    it('prints what is said with --follow, and what is done on stderr', async () => {
      const script = scripted({ say: 'one ' }, { tool: 'search', input: 1, output: 'x' }, { say: 'two\u001b[2J\u0007' })
      const { code, stdout, stderr } = await run([...script, '--follow'])
      expect([code, stdout]).toEqual([0, 'one two\n'])
      expect(stderr).toMatch(
        /^bg_\d+ in thread cli-\w+; .*\n {2}⚙ search\(1\)\n {2}⚙ search → x\n✔ bg_\d+ completed \(\S+\)\n$/,
      )
      expect(await run([...scripted({ return: 'only this' }), '--follow'])).toMatchObject({ stdout: 'only this\n' })
    })

    it('prints every event with --follow --json', async () => {
      const thread = freshThread()
      const { stdout } = await run([...scripted({ say: 'a' }), '--thread', thread, '--follow', '--json'])
      const events = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Event)
      const { seq: last = 0 } = events.at(-1) ?? {}
      expect(events).toEqual((await logOf(server(), thread)).slice(-events.length))
      expect([events.at(-1)?.type, last]).toEqual(['task.completed', events.length + (events[0]?.seq ?? 0) - 1])
    })

    it.each(['--wait', '--follow'])('mirrors the outcome with %s', async (flag) => {
      const failed = await run([...scripted({ fail: 'too bad' }), flag])
      expect([failed.code, failed.stdout]).toEqual([3, ''])
      expect(failed.stderr).toMatch(/✘ bg_\d+ failed: too bad/)
      expect((await run([...scripted({ hang: true }), '--timeout-ms', '20', flag])).code).toBe(124)
      const hanging = new RunningCli(['run', ...scripted({ hang: true }), flag], { server: server() })
      const [, id = ''] = await hanging.until(/(bg_\d+) in thread/, 'stderr')
      await server().request('POST', `/v1/tasks/${id}/cancel`, { body: {} })
      expect((await hanging.ended).code).toBe(8)
    })

    it('only detaches when it is interrupted or its time is up', async () => {
      const hanging = new RunningCli(['run', ...scripted({ say: 'x' }, { hang: true }), '--follow'], {
        server: server(),
      })
      await hanging.until(/x/)
      hanging.child.kill('SIGINT')
      const { code, stdout, stderr } = await hanging.ended
      const id = /^bg_\d+/.exec(stderr)?.[0] ?? ''
      expect([code, stdout]).toEqual([130, 'x\n'])
      expect(stderr).toContain(`${id} goes on. Come back: holdfast logs ${id} -f; stop it: holdfast cancel ${id}`)
      expect(await taskOf(server(), id)).toMatchObject({ status: 'running' })
      expect((await run([...scripted({ hang: true }), '--wait', '--timeout', '300ms'])).code).toBe(124)
    })

    it('tells programs which task goes on when its time is up, and when it is interrupted', async () => {
      const thread = freshThread()
      const args = [...scripted({ say: 'x' }, { hang: true }), '--thread', thread, '--json']
      const late = await run([...args, '--wait', '--timeout', '3s'])
      const [task] = (await logOf(server(), thread)).map((event) => event.task)
      expect(late.code).toBe(124)
      expect(JSON.parse(late.stderr)).toMatchObject({ type: 'about:blank', task, thread, exitCode: 124 })
      const followed = new RunningCli(['run', ...args, '--background', '--follow'], { server: server() })
      await followed.until(/text\.delta/)
      followed.child.kill('SIGINT')
      const { code, stdout, stderr } = await followed.ended
      const { task: left } = JSON.parse(stdout.split('\n')[0] ?? '') as Event
      expect(code).toBe(130)
      expect(JSON.parse(stderr)).toEqual({
        type: 'about:blank',
        title: 'interrupted',
        task: left,
        thread,
        exitCode: 130,
      })
    })

    it('reads the prompt from stdin, and the input from a file or stdin', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, 'in.json'), '{"script":[{"say":"from a file"}]}')
      expect(await run(['echo', '-', '--wait'], { input: 'a\nb\n' })).toMatchObject({ stdout: 'a\nb\n' })
      const file = await run(['script', '--input', '@in.json', '--follow'], { folder })
      expect(file).toMatchObject({ code: 0, stdout: 'from a file\n' })
      const piped = await run(['script', '--input', '@-', '--follow'], { input: '{"script":[{"say":"piped"}]}' })
      expect(piped).toMatchObject({ code: 0, stdout: 'piped\n' })
    })

    it('keeps to a thread, with all that can be said of a run', async () => {
      const thread = freshThread()
      const flags = [
        '--thread',
        thread,
        '--description',
        'first',
        '--on-result',
        'wake',
        '--timeout-ms',
        '60000',
        '--json',
      ]
      const { stdout } = await run(['echo', 'one', ...flags])
      expect(JSON.parse(stdout)).toMatchObject({ thread, description: 'first' })
      await run(['echo', 'two', '--thread', thread, '--wait'])
      expect((await messagesOf(server(), thread)).map(textOf)).toEqual(['one', 'one', 'two', 'two'])
    })

    it('says what a busy thread does with it', async () => {
      const thread = freshThread()
      const live = await runScript(server(), thread, [{ receive: {} }, { hang: true }])
      const at = ['--thread', thread]
      const refused = await run(['echo', 'x', ...at, '--on-busy', 'reject'])
      expect(refused).toMatchObject({ code: 6, stdout: '' })
      const steered = await run(['echo', 'be brief', ...at, '--on-busy', 'steer'])
      expect(steered).toMatchObject({ code: 0, stdout: `${live.id}\n` })
      expect(steered.stderr).toContain(`${live.id} is live in ${thread} and is told`)
      const queued = await run(['echo', 'y', ...at])
      const next = await run(['echo', 'now', ...at, '--on-busy', 'interrupt', '--wait'])
      expect(next).toMatchObject({ code: 0, stdout: 'now\n' })
      expect(await taskOf(server(), live.id)).toMatchObject({ status: 'cancelled' })
      expect(await taskOf(server(), queued.stdout.trim())).toMatchObject({ status: 'cancelled' })
    })

    it('spawns a task beside the queue with --background', async () => {
      const thread = freshThread()
      const args = [...scripted({ return: 7 }), '--thread', thread, '--background', '--name', 'counter', '--json']
      const task = JSON.parse((await run(args)).stdout) as Task
      expect(task).toMatchObject({ type: 'agent', name: 'counter', thread })
      const [thrice] = await Promise.all([run(['echo', 'x', '--background', '--on-busy', 'queue'])])
      expect(thrice.code).toBe(2)
    })

    it.each([
      [['echo'], /Say what to ask/],
      [['echo', 'x', '--input', '{}'], /not both/],
      [['script', '--input', '{oops'], /--input is no JSON/],
      [['script', '--input', '@nowhere.json'], /cannot be read/],
      [['echo', 'x', '--wait', '--detach'], /cannot be used with/],
      [['echo', 'x', '--on-busy', 'panic'], /queue, steer, interrupt, reject/],
      [['echo', 'x', '--name', 'n'], /--background/],
      [['echo', '-'], /Nothing came on stdin/],
      [['echo', 'hello', 'world'], /too many arguments.* Put the prompt in quotes; `holdfast run --help`/],
      [['echo', 'x', '--thread', ''], /--thread is empty/],
    ] as const)('%j cannot be understood', async (args, message) => {
      const { code, stdout, stderr } = await run(args)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(message)
    })

    it('refuses an agent that is not there', async () => {
      const { code, stderr } = await run(['nobody', 'x'])
      expect(code).toBe(5)
      expect(stderr).toMatch(/nobody.*\n.*holdfast agents/)
      const near = await run(['ecko', 'x'])
      expect(near.code).toBe(5)
      expect(near.stderr).toMatch(/ecko.*\. The nearest is echo\n.*holdfast agents/)
    })
  })

  describe('holdfast run on a terminal', () => {
    it('follows by itself: a spinner and a progress bar while it is silent, then the text', async () => {
      const script = [
        { progress: 0.5 },
        { receive: {} },
        { say: 'hel' },
        { say: 'lo\n' },
        { receive: {} },
        { say: 'end' },
      ]
      const screen = new TerminalScreen(['run', ...scripted(...script)], { server: server(), columns: 80 })
      const [, id = ''] = await screen.shows(/^(bg_\d+) in thread/)
      await screen.shows(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] bg_\d+ running \d+s █{10}░{10} 50 %$/m)
      const tell = () => server().request('POST', `/v1/tasks/${id}/messages`, { body: { content: 'go' } })
      await tell()
      await screen.shows(/^hello\n[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] bg_\d+ running/m)
      await tell()
      await screen.shows(/^hello\nend\n✔ bg_\d+ completed/m)
      expect(await screen.ended).toBe(0)
      expect(screen.text).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|█/)
    })

    it('is left by Ctrl-C, with the way back', async () => {
      const screen = new TerminalScreen(['run', ...scripted({ say: 'half a line' }, { hang: true })], {
        server: server(),
      })
      await screen.shows(/half a line/)
      screen.type(keys.interrupt)
      await screen.shows(/half a line(\^C)?\n.*bg_\d+ goes on\. Come back: holdfast logs bg_\d+ -f/)
      expect(await screen.ended).toBe(130)
    })

    it('says that it reads a prompt which is typed, and what ends it', async () => {
      const screen = new TerminalScreen(['run', 'echo', '-', '--wait'], { server: server() })
      await screen.shows(/Reading the prompt; Ctrl-D on an empty line ends it/)
      screen.type(`typed${keys.enter}${keys.endOfInput}`)
      await screen.shows(/\ntyped\n✔/)
      expect(await screen.ended).toBe(0)
    })

    it('has neither spinner nor hint with --quiet', async () => {
      const screen = new TerminalScreen(['run', 'echo', 'hi', '--quiet'], { server: server() })
      expect(await screen.ended).toBe(0)
      expect(screen.text).toBe('hi')
    })
  })
})
