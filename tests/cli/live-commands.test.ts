import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Question } from '../../src/core/question.ts'
import { freshThread, onSharedServer } from '../server/harness/on-each-server.ts'
import { logOf, read, resultsOf, spawnScript, taskOf } from '../server/harness/reads.ts'
import { type CliOptions, cli, RunningCli } from './harness/cli.ts'
import { TerminalScreen } from './harness/terminal.ts'
import { ended, logged, runScript } from './harness/work.ts'

onSharedServer(['memory'], (_kind, server) => {
  const holdfast = (args: readonly string[], options: CliOptions = {}) => cli(args, { server: server(), ...options })
  const hanging = (thread: string) => spawnScript(server(), thread, [{ hang: true }])

  describe('holdfast send', () => {
    it('sends a message to the inbox of a task, and prints its id', async () => {
      const thread = freshThread()
      const task = await spawnScript(server(), thread, [{ receive: {} }, { receive: {} }])
      const first = await holdfast(['send', task.id, 'hello', '--from', 'a person'])
      expect(first).toMatchObject({ code: 0, stderr: `Follow it: holdfast logs ${task.id} -f\n` })
      const second = await holdfast(['send', task.id, '-', '--json'], { input: 'from stdin\n' })
      expect((await holdfast(['logs', task.id, '-f', '--exit-status'])).code).toBe(0)
      const accepted = (await logOf(server(), thread)).filter(({ type }) => type === 'inbox.accepted')
      expect(accepted.map(({ data }) => data)).toMatchObject([
        { id: first.stdout.trim(), from: 'a person', content: 'hello' },
        { id: (JSON.parse(second.stdout) as { id: string }).id, content: 'from stdin' },
      ])
    })

    it('is refused where nobody would read it', async () => {
      const task = await spawnScript(server(), freshThread(), [{ return: 1 }])
      await holdfast(['logs', task.id, '-f'])
      expect((await holdfast(['send', task.id, 'x'])).code).toBe(6)
      const missing = await holdfast(['send', 'bg_9999', 'x'])
      expect(missing.code).toBe(5)
      expect(missing.stderr).toContain('There is no task bg_9999')
    })

    it('is refused if it is empty', async () => {
      const sent = await holdfast(['send', (await hanging(freshThread())).id, ''])
      expect(sent).toMatchObject({ code: 2, stderr: expect.stringContaining('There is nothing to send') })
    })
  })

  describe('holdfast answer', () => {
    it('answers a question once, with one of its options', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, [{ ask: { text: 'Deploy?', options: ['yes', 'no'] } }])
      await logged(server(), thread, /question\.asked/)
      const [question] = (await read<{ questions: Question[] }>(server(), `/v1/questions?thread=${thread}`)).questions
      const id = question?.id ?? ''
      const none = await holdfast(['answer', id, 'perhaps'])
      expect([none.code, none.stderr.split('\n')[0]]).toEqual([
        2,
        'holdfast: "perhaps" is none of the options: yes, no',
      ])
      const answered = await holdfast(['answer', id, 'yes'])
      expect(answered).toMatchObject({ code: 0, stdout: 'Deploy? yes\n' })
      expect(answered.stderr).toBe(`Follow it: holdfast logs ${run.id} -f\n`)
      expect((await holdfast(['logs', run.id, '-f', '--types', 'custom'])).stdout).toContain('answered {"answer":"yes"')
      const late = await holdfast(['answer', id, 'no'])
      expect([late.code, late.stderr.split('\n')[0]]).toEqual([
        6,
        'holdfast: The question was answered before, by alice: yes',
      ])
      const missing = await holdfast(['answer', 'q_9999', 'yes'])
      expect(missing.code).toBe(5)
      expect(missing.stderr).toContain(
        'There is no question q_9999\n  The open questions of a task are in `holdfast inspect TASK`.\n',
      )
    })

    it('reads the answer from stdin, and prints the question with --json', async () => {
      const thread = freshThread()
      const asking = new RunningCli(
        ['run', 'script', '--follow', '--thread', thread, '--input', '{"script":[{"ask":{"text":"Who?"}}]}'],
        { server: server() },
      )
      const [, id = ''] = await asking.until(/\? Who\?\n +Answer it: holdfast answer (\S+) TEXT/, 'stderr')
      const { stdout } = await holdfast(['answer', id, '-', '--json'], { input: 'me\n' })
      expect(JSON.parse(stdout)).toMatchObject({ id, text: 'Who?', answer: 'me', by: 'alice' })
      expect((await asking.ended).code).toBe(0)
    })
  })

  describe('holdfast answer --input', () => {
    it('gives an answer that is no text', async () => {
      const thread = freshThread()
      await runScript(server(), thread, [{ ask: { text: 'How much?' } }])
      await logged(server(), thread, /question\.asked/)
      const [question] = (await read<{ questions: Question[] }>(server(), `/v1/questions?thread=${thread}`)).questions
      const id = question?.id ?? ''
      for (const args of [[], ['12', '--input', '12']]) {
        expect((await holdfast(['answer', id, ...args])).code).toBe(2)
      }
      const { stdout } = await holdfast(['answer', id, '--input', '@-', '--json'], { input: '{"amount": 12}' })
      expect(JSON.parse(stdout)).toMatchObject({ id, answer: { amount: 12 } })
    })
  })

  describe('holdfast cancel', () => {
    it('cancels tasks with their trees, and prints what it reached', async () => {
      const thread = freshThread()
      const kid = { spawn: { script: [{ hang: true }], name: 'kid' } }
      const [one, two] = [await spawnScript(server(), thread, [kid, { hang: true }]), await hanging(thread)]
      await logged(server(), thread, /(task\.started[\s\S]*){3}/)
      const { code, stdout, stderr } = await holdfast(['cancel', one.id, two.id, '--reason', 'enough'])
      expect(code).toBe(0)
      expect(stdout.trimEnd().split('\n')).toHaveLength(3)
      expect(stderr).toBe(`See how it ends: holdfast logs ${one.id} -f\n`)
      expect((await holdfast(['logs', two.id, '-f', '--exit-status'])).code).toBe(8)
      const reasons = (await logOf(server(), thread)).filter(({ type }) => type === 'task.cancelling')
      expect(reasons[0]?.data).toMatchObject({ reason: 'enough' })
      await ended(server(), one)
      expect(await holdfast(['cancel', one.id])).toMatchObject({
        code: 0,
        stdout: '',
        stderr: `${one.id} had already ended\n`,
      })
    })

    it('cancels all that is there, whatever is not, and says so', async () => {
      const thread = freshThread()
      const task = await hanging(thread)
      const { code, stdout, stderr } = await holdfast(['cancel', 'bg_9998', task.id, 'bg_9999'])
      expect([code, stdout]).toEqual([5, `${task.id}\n`])
      expect(stderr).toMatch(/There is no task bg_9998[\s\S]*There is no task bg_9999/)
      expect((await holdfast(['cancel', 'bg_9998'])).code).toBe(5)
    })

    it('leaves children alone with --no-tree', async () => {
      const thread = freshThread()
      const kid = { spawn: { script: [{ hang: true }], detached: true } }
      const root = await spawnScript(server(), thread, [kid, { hang: true }])
      await logged(server(), thread, /(task\.started[\s\S]*){2}/)
      expect(await holdfast(['cancel', root.id, '--no-tree'])).toMatchObject({ code: 0, stdout: `${root.id}\n` })
      await holdfast(['cancel', '--thread', thread, '--all'])
    })

    it('cancels the runs of a thread, or with --all everything in it', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, [{ hang: true }])
      const queued = await runScript(server(), thread, [{ say: 'later' }])
      const task = await hanging(thread)
      const runs = await holdfast(['cancel', '--thread', thread])
      expect(runs).toMatchObject({ code: 0, stdout: `${run.id}\n${queued.id}\n` })
      expect(await taskOf(server(), task.id)).toMatchObject({ status: 'running' })
      const all = await holdfast(['cancel', '--thread', thread, '--all', '--json'])
      expect((JSON.parse(all.stdout) as { cancelled: string[] }).cancelled).toContain(task.id)
      await holdfast(['logs', task.id, '-f'])
      const idle = await holdfast(['cancel', '--thread', freshThread()])
      expect(idle).toMatchObject({ code: 0, stdout: '' })
      expect(idle.stderr).toMatch(/Nothing was live/)
    })

    it.each([[[]], [['bg_1', '--thread', 't']], [['bg_1', '--all']], [['--thread', 't', '--no-tree']]])(
      '%j cannot be understood',
      async (args) => {
        expect(await holdfast(['cancel', ...args])).toMatchObject({ code: 2, stdout: '' })
      },
    )
  })

  describe('holdfast results', () => {
    it('lists what nobody has taken, and takes it with --collect, once', async () => {
      const thread = freshThread()
      const done = await spawnScript(server(), thread, [{ return: { a: 1 } }])
      const failed = await spawnScript(server(), thread, [{ fail: 'no' }])
      for (const { id } of [done, failed]) await holdfast(['logs', id, '-f'])
      const live = await hanging(thread)
      const listed = await holdfast(['results', thread])
      expect(listed.stdout).toBe(`${done.id}\tcompleted\t{"a":1}\n${failed.id}\tfailed\tagent_error: no\n`)
      expect(listed.stderr).toBe(`Take them: holdfast results ${thread} --collect\n`)
      const json = await holdfast(['results', thread, '--json'])
      expect(JSON.parse(json.stdout)).toEqual(await resultsOf(server(), thread))
      expect((await holdfast(['results', thread, '--collect'])).stdout).toBe(listed.stdout)
      const empty = await holdfast(['results', thread, '--collect'])
      expect(empty).toMatchObject({ code: 0, stdout: '', stderr: `No results wait in ${thread}; 1 still run\n` })
      await holdfast(['cancel', live.id])
    })

    it('is a table on a terminal, with glyph and word', async () => {
      const thread = freshThread()
      const task = await spawnScript(server(), thread, [{ return: 'x\u001b[31my' }])
      await holdfast(['logs', task.id, '-f'])
      const screen = new TerminalScreen(['results', thread], { server: server() })
      await screen.shows(new RegExp(`TASK +STATUS +RESULT\n${task.id} +✔ completed +xy`))
      expect(await screen.ended).toBe(0)
    })
  })

  describe('holdfast events', () => {
    it('prints what happens in all threads from now on, each line with its thread and task', async () => {
      const threads = [freshThread(), freshThread()]
      const lines = new RunningCli(['events'], { server: server() })
      const json = new RunningCli(['events', '--types', 'task.completed', '--json'], { server: server() })
      await lines.until(/from now on/, 'stderr')
      // Its answer to the request comes later than the hint: it listens once it has heard something.
      const spawnAgain = () => spawnScript(server(), 'warm-up', [{ return: 1 }])
      const until = async (running: RunningCli) => {
        while (!/warm-up/.test(running.stdout)) await holdfast(['logs', (await spawnAgain()).id, '-f'])
      }
      await Promise.all([until(lines), until(json)])
      const tasks = []
      for (const thread of threads) tasks.push(await spawnScript(server(), thread, [{ say: 'x' }]))
      for (const { id, thread } of tasks) {
        await lines.until(new RegExp(`^${thread}\t${id}\t4\t\\S+\ttask\\.completed\t`, 'm'))
        await json.until(new RegExp(`"thread":"${thread}".*"task":"${id}"`))
      }
      for (const running of [lines, json]) running.child.kill('SIGINT')
      expect((await lines.ended).code).toBe(130)
      const types = (await json.ended).stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as Event).type)
      expect(new Set(types)).toEqual(new Set(['task.completed']))
    })
  })
})
