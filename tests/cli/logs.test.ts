import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { expectStatus } from '../server/harness/client.ts'
import { freshThread, onSharedServer } from '../server/harness/on-each-server.ts'
import { logOf, snapshotOf, spawnScript } from '../server/harness/reads.ts'
import { cli, RunningCli } from './harness/cli.ts'
import { keys, TerminalScreen } from './harness/terminal.ts'
import { logged, runScript } from './harness/work.ts'

onSharedServer(['memory'], (_kind, server) => {
  const logs = (...args: readonly string[]) => cli(['logs', ...args], { server: server() })
  const endedRun = async (thread: string, script: readonly object[]): Promise<Task> => {
    const run = await runScript(server(), thread, script)
    expect((await logs(run.id, '-f')).code).toBe(0)
    return run
  }

  describe('holdfast logs', () => {
    it('prints what there is and ends, though the task goes on', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, [{ say: 'a' }, { hang: true }])
      await logged(server(), thread, /text\.delta/)
      const { code, stdout, stderr } = await logs(run.id, '--exit-status')
      const lines = stdout.trimEnd().split('\n')
      expect(lines.map((line) => line.split('\t')[2])).toEqual([
        'task.accepted',
        'task.started',
        'message.created',
        'text.delta',
      ])
      expect(lines[0]).toMatch(/^1\t\d{4}-\d\d-\d\dT[\d:.]+Z\ttask\.accepted\tscript/)
      expect([code, stderr]).toEqual([0, ''])
    })

    it('says of a type that it does not know that nothing may come of it', async () => {
      const run = await endedRun(freshThread(), [{ say: 'a' }])
      expect(await logs(run.id, '--types', 'bogus.type,text.delta,tsk.started', '--json')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^[^\n]*"text\.delta"[^\n]*\n$/),
        stderr:
          'No event type bogus.type is known here\n' +
          'No event type tsk.started is known here. The nearest is task.started\n',
      })
      expect(await logs(run.id, '--types', 'bogus.type', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' })
    })

    it('joins text, and prints everything else in a line that no terminal takes for a command', async () => {
      const run = await endedRun(freshThread(), [
        { say: 'one ' },
        { say: 'two\n\u001b[2Jthree' },
        { think: 'hm\u0007' },
        { progress: 0.25 },
        { emit: 'note', payload: 'a\nb\u001b[31m' },
        { tool: 'search', input: { q: 1 }, output: 'found' },
      ])
      const { stdout } = await logs(run.id)
      expect(stdout).toMatch(/\n4\t\S+\ttext\.delta\tone two three\n6\t\S+\tthinking\thm\n7\t\S+\tprogress\t25 %\n/)
      expect(stdout).toMatch(/\n8\t\S+\tcustom\tnote a b\n9\t\S+\ttool\.call\tsearch\(\{"q":1\}\)/)
      expect(stdout).not.toContain('\u001b')
    })

    it('prints NDJSON with --json, all of it as it is', async () => {
      const thread = freshThread()
      const run = await endedRun(thread, [{ say: 'a\u001b[31m\u2028' }, { emit: 'tick', times: 3 }])
      const { stdout } = await logs(run.id, '--json')
      const lines = stdout.trimEnd().split('\n')
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(await logOf(server(), thread))
      expect(stdout).not.toMatch(/[\u2028\u009b]/)
    })

    it('begins after a number and keeps to types, also where the end of the task is none of them', async () => {
      const run = await endedRun(freshThread(), [{ emit: 'tick', times: 5 }, { say: 'x' }])
      const numbers = async (...flags: readonly string[]) =>
        (await logs(run.id, ...flags)).stdout.split('\n').flatMap((line) => /^\d+/.exec(line)?.[0] ?? [])
      for (const follow of [[], ['-f']]) {
        expect(await numbers('--after', '6', '--types', 'custom', ...follow)).toEqual(['7', '8'])
        expect(await numbers('--after', '9', ...follow)).toEqual(['10', '11'])
      }
    })

    it('prints the log of a thread, each line with its task', async () => {
      const thread = freshThread()
      const run = await endedRun(thread, [{ spawn: { script: [{ say: 'kid' }], wait: true } }])
      const { stdout } = await logs(thread)
      const tasks = (await logOf(server(), thread)).map(({ task }) => task)
      expect(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.split('\t')[0]),
      ).toEqual(tasks)
      expect(new Set(tasks).size).toBe(2)
      expect(tasks[0]).toBe(run.id)
    })

    it('follows a tree with the names of its tasks until all that ends with it has ended', async () => {
      const thread = freshThread()
      await runScript(server(), thread, [{ say: 'nobody asked' }])
      const kid = {
        script: [{ spawn: { script: [{ say: 'deep' }], name: 'grandkid', wait: true } }],
        name: 'kid',
        wait: true,
      }
      const left = { script: [{ hang: true }], name: 'left', detached: true }
      const root = await spawnScript(server(), thread, [{ spawn: left }, { spawn: kid }], { name: 'root' })
      const { code, stdout } = await logs(
        root.id,
        '-f',
        '--subtree',
        '--types',
        'task.started,text.delta,task.completed',
      )
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t').filter((_, column) => column % 3 === 0))
      expect(lines.map((line) => line.join(' ')).toSorted()).toEqual(
        [
          'root task.started',
          'left task.started',
          'kid task.started',
          'grandkid task.started',
          'grandkid text.delta',
          'grandkid task.completed',
          'kid task.completed',
          'root task.completed',
        ].toSorted(),
      )
      expect(code).toBe(0)
      await expectStatus(200, server().request('POST', `/v1/threads/${thread}/cancel`, { body: { scope: 'all' } }))
    })

    it.each([
      ['completed', [{ say: 'x' }], {}, 0],
      ['failed', [{ fail: 'no' }], {}, 3],
      ['out of time', [{ hang: true }], { timeoutMs: 20 }, 124],
    ])('mirrors with --exit-status a task that is %s', async (_how, script, more, code) => {
      const task = await spawnScript(server(), freshThread(), script, more)
      expect((await logs(task.id, '-f', '--exit-status')).code).toBe(code)
      expect((await logs(task.id, '--exit-status')).code).toBe(code)
      expect((await logs(task.id, '-f')).code).toBe(0)
    })

    it('mirrors with --exit-status a task that is cancelled while it is followed', async () => {
      const task = await spawnScript(server(), freshThread(), [{ say: 'x' }, { hang: true }])
      const running = new RunningCli(['logs', task.id, '-f', '--exit-status'], { server: server() })
      await running.until(/text\.delta/)
      await expectStatus(200, server().request('POST', `/v1/tasks/${task.id}/cancel`, { body: {} }))
      expect((await running.ended).code).toBe(8)
    })

    it('refuses what is not there, and what is not meant', async () => {
      const thread = freshThread()
      const run = await endedRun(thread, [{ say: 'x' }])
      expect(await logs('bg_9999')).toMatchObject({ code: 5, stdout: '' })
      expect((await logs('bg_9999')).stderr).toMatch(/There is no task bg_9999\n.*holdfast ps -a.*\n {2}Request id: /)
      expect((await logs('no-thread')).code).toBe(5)
      expect((await logs(thread, '--subtree')).code).toBe(2)
      expect((await logs(thread, '--exit-status')).code).toBe(2)
      expect((await logs(run.id, '--after', 'x')).code).toBe(2)
      expect((await logs(run.id, '--types', 'a b')).code).toBe(2)
      expect((await logs(run.id, '--after', '9999')).code).toBe(6)
    })

    it('begins where the log begins after its thread was deleted, and says so', async () => {
      const thread = freshThread()
      await endedRun(thread, [{ say: 'gone' }])
      await expectStatus(204, server().request('DELETE', `/v1/threads/${thread}`))
      const run = await endedRun(thread, [{ say: 'new' }])
      const { first, head } = await snapshotOf(server(), thread)
      for (const id of [thread, run.id]) {
        const { code, stdout, stderr } = await logs(id)
        expect(code).toBe(0)
        expect(stdout.match(/\t(text\.delta\t.*)$/m)?.[1]).toBe('text.delta\tnew')
        expect(stdout).not.toContain('gone')
        expect(stderr).toBe(`The log begins at ${first}; what was before is deleted\n`)
      }
      expect((await logs(thread, '--after', '1')).code).toBe(5)
      expect((await logs(thread, '--after', String(head))).stdout).toBe('')
    })

    it('ends with 130 when it is interrupted, and with 124 when its time is up; the task goes on', async () => {
      const task = await spawnScript(server(), freshThread(), [{ say: 'x' }, { hang: true }])
      const running = new RunningCli(['logs', task.id, '-f'], { server: server() })
      await running.until(/text\.delta\tx/)
      running.child.kill('SIGINT')
      expect((await running.ended).code).toBe(130)
      expect((await logs(task.id, '-f', '--timeout', '300ms')).code).toBe(124)
      const { body } = await server().request<Task>('GET', `/v1/tasks/${task.id}`)
      expect(body.status).toBe('running')
    })

    it('is aligned and cut on a terminal, with text in full as it streams', async () => {
      const thread = freshThread()
      const script = [
        { emit: 'long', payload: 'x'.repeat(200) },
        { say: 'hel' },
        { receive: {} },
        { say: 'lo' },
        { fail: 'no' },
      ]
      const task = await spawnScript(server(), thread, script)
      const screen = new TerminalScreen(['logs', task.id, '-f'], { server: server(), columns: 70 })
      await screen.shows(/^ {4}4 \d\d:\d\d:\d\d text\.delta {6} hel$/m)
      const long = screen.text.split('\n').find((line) => line.includes('long'))
      expect(long).toMatch(/^ {4}3 \d\d:\d\d:\d\d custom {10} long x+…$/)
      expect(long).toHaveLength(70)
      await expectStatus(202, server().request('POST', `/v1/tasks/${task.id}/messages`, { body: { content: 'go' } }))
      await screen.shows(/text\.delta {6} lo\n.*task\.failed {5} agent_error: no$/)
      expect(await screen.ended).toBe(0)
      expect(screen.received).toContain('\u001b[31mtask.failed')
    })

    it('is left by Ctrl-C on a terminal', async () => {
      const task = await spawnScript(server(), freshThread(), [{ say: 'x' }, { hang: true }])
      const screen = new TerminalScreen(['logs', task.id, '-f'], { server: server() })
      await screen.shows(/text\.delta/)
      screen.type(keys.interrupt)
      expect(await screen.ended).toBe(130)
    })
  })
})
