import { describe, expect, it } from 'vitest'
import { freshThread, onSharedServer } from '../server/harness/on-each-server.ts'
import { logOf, messagesOf, snapshotOf, spawnScript, taskOf, textOf } from '../server/harness/reads.ts'
import { cli, RunningCli } from './harness/cli.ts'
import { keys, TerminalScreen } from './harness/terminal.ts'
import { ended, logged, runScript } from './harness/work.ts'

const hanging = [{ say: 'Thinking about it' }, { hang: true }]

onSharedServer(['memory'], (_kind, server) => {
  const attach = (id: string, ...more: readonly string[]) =>
    new TerminalScreen(['attach', id, ...more], { server: server() })

  describe('holdfast attach on a terminal', () => {
    it('asks the agent with what is typed, and shows what it says', async () => {
      const thread = freshThread()
      const screen = attach(thread, '--agent', 'echo')
      await screen.shows(/idle.*\n❯/)
      screen.type(`Is anybody there?${keys.enter}`)
      await screen.shows(/❯ Is anybody there\?\necho bg_\d+\nIs anybody there\?\n✔ bg_\d+ completed\n· idle/)
      expect((await messagesOf(server(), thread)).map(textOf)).toEqual(['Is anybody there?', 'Is anybody there?'])
      // The agent is that of the last run now.
      screen.type(keys.interrupt)
      expect(await screen.ended).toBe(0)
      const again = attach(thread)
      await again.shows(/❯ Is anybody there\?\nIs anybody there\?\n· idle/)
      again.type(`Agaim${keys.backspace}n${keys.enter}`)
      await again.shows(/❯ Again\necho bg_\d+\nAgain\n✔/)
    })

    it('shows in mid-sentence what was said so far, and goes on', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, [{ say: 'one ' }, { receive: {} }, { say: 'two' }])
      const screen = attach(run.id)
      await screen.shows(/script bg_\d+\none *\n/)
      await screen.shows(new RegExp(`${run.id} running`))
      screen.type(`go on${keys.enter}`)
      await screen.shows(/received .*go on/)
      await screen.shows(new RegExp(`two\n✔ ${run.id} completed`))
      expect(screen.text.match(/^one/gm)).toHaveLength(1)
    })

    it('steers, queues, interrupts and cancels', async () => {
      const thread = freshThread()
      const first = await runScript(server(), thread, hanging)
      const screen = attach(thread)
      await screen.shows(/Thinking about it/)
      screen.type(`/steer be brief${keys.enter}`)
      await screen.shows(/inbox\.accepted .*be brief/)
      screen.type(`/queue later${keys.enter}`)
      await screen.shows(/bg_\d+ is queued\n[\s\S]*1 queued/)
      screen.type(`/interrupt now this${keys.enter}`)
      await screen.shows(new RegExp(`⊘ ${first.id} cancelled`))
      await screen.shows(/❯ now this\nscript bg_\d+\nnow this\n✔/)
      await runScript(server(), thread, hanging)
      await screen.shows(/Thinking about it[\s\S]*Thinking about it[\s\S]*bg_\d+ running/)
      screen.type(`/cancel enough${keys.enter}`)
      await screen.shows(/cancelling by alice: enough[\s\S]*⊘ bg_\d+ cancelled[\s\S]*· idle/)
      expect((await logOf(server(), thread)).filter(({ type }) => type === 'task.cancelling')).toHaveLength(2)
    })

    it('breaks what is asked and told between words', async () => {
      const thread = freshThread()
      await runScript(server(), thread, [{ ask: { text: 'Shall the quarterly figures be published?' } }])
      const screen = new TerminalScreen(['attach', thread], { server: server(), columns: 40 })
      await screen.shows(/\(\/answer\s+TEXT\)/)
      const words = screen.rows.join('\n').split(/\s+/)
      expect(words).toEqual(expect.arrayContaining(['quarterly', 'figures', 'published?', '(/answer', 'TEXT)']))
    })

    it('says what can be typed, and what is wrong', async () => {
      const screen = attach(freshThread())
      await screen.shows(/idle/)
      screen.type(`/help${keys.enter}`)
      for (const name of ['steer', 'queue', 'interrupt', 'cancel', 'answer'])
        await screen.shows(new RegExp(`/${name} `))
      screen.type(`/cancle${keys.enter}`)
      await screen.shows(/There is no \/cancle\. The nearest is \/cancel/)
      screen.type(`hello${keys.enter}`)
      await screen.shows(/say who answers: holdfast attach thread-\d+ --agent NAME/)
      screen.type(`/answer yes${keys.enter}/cancel${keys.enter}`)
      await screen.shows(/No question is open here[\s\S]*Nothing is live here/)
      const other = attach(freshThread(), '--agent', 'nobody')
      await other.shows(/idle/)
      other.type(`hello${keys.enter}`)
      await other.shows(/No agent named "nobody" is registered/)
    })

    it('detaches at Ctrl-C, says how to come back, and cancels nothing', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, hanging)
      const screen = attach(thread)
      await screen.shows(/Thinking about it/)
      screen.type(keys.interrupt)
      await screen.shows(new RegExp(`Detached; ${run.id} goes on\\. Come back: holdfast attach ${thread}`))
      screen.type(keys.enter)
      expect(await screen.ended).toBe(0)
      expect(screen.text).not.toMatch(/^❯$/m)
      expect(await taskOf(server(), run.id)).toMatchObject({ status: 'running' })
    })

    it.each([
      ['y', 'cancelled'],
      ['n', 'running'],
    ])('asks at a second Ctrl-C whether to cancel, and after %j it is %s', async (answer, status) => {
      const thread = freshThread()
      const run = await runScript(server(), thread, hanging)
      const screen = attach(thread)
      await screen.shows(/Thinking about it/)
      // Together, so that they are within the time however slow the machine is.
      screen.type(keys.interrupt + keys.interrupt)
      await screen.shows(/Ctrl-C again within 2 s/)
      await screen.shows(new RegExp(`Cancel ${run.id} and all under it\\? \\(y/N\\)`))
      screen.type(answer)
      expect(await screen.ended).toBe(0)
      if (status === 'cancelled') expect(screen.text).toContain(`Cancelled ${run.id}`)
      const task = status === 'cancelled' ? await ended(server(), run) : await taskOf(server(), run.id)
      expect(task.status).toBe(status)
    })

    it('leaves at once where nothing is live, by Ctrl-C as by the end of the input', async () => {
      for (const key of [keys.interrupt, keys.endOfInput, `/detach${keys.enter}`]) {
        const screen = attach(freshThread())
        await screen.shows(/idle/)
        screen.type(key)
        expect(await screen.ended).toBe(0)
        expect(screen.text).toMatch(/^Detached\. Come back: holdfast attach thread-\d+$/)
      }
    })

    it('shows what children do in a line each, and lets no agent steer the terminal', async () => {
      const thread = freshThread()
      const screen = attach(thread)
      await screen.shows(/idle/)
      await runScript(server(), thread, [
        { spawn: { script: [{ say: 'from below' }], name: 'kid', wait: true } },
        { tool: 'search', input: { q: 1 }, output: 'found' },
        { say: 'red \u001b[31m\u001b[2J\u001b]0;evil\u0007text' },
      ])
      await screen.shows(/\+ bg_\d+ script \(kid\)\n +✔ bg_\d+ completed/)
      await screen.shows(/⚙ search\(\{"q":1\}\)\n +⚙ search → found\nscript bg_\d+\nred text\n✔/)
      expect(screen.text).not.toMatch(/^from below/m)
      expect(screen.received).not.toContain('\u001b[2J')
      expect(screen.received).not.toContain('\u001b]0')
    })

    it('shows an open question, and takes the answer', async () => {
      const thread = freshThread()
      const asks = [{ ask: { text: 'Which one?' } }, { ask: { text: 'Deploy?', options: ['yes', 'no'] } }]
      const run = await runScript(server(), thread, asks)
      await logged(server(), thread, /question\.asked/)
      const screen = attach(thread)
      await screen.shows(new RegExp(`\\? \\S+ ${run.id} asks: Which one\\?`))
      await screen.shows(/1 open question/)
      screen.type(`/answer the second${keys.enter}`)
      await screen.shows(/answered \{"answer":"the second","by":"alice"\}/)
      const [, id = ''] = await screen.shows(/\? (\S+) bg_\d+ asks: Deploy\? \[yes \/ no\]/)
      screen.type(`/answer perhaps${keys.enter}`)
      await screen.shows(/"perhaps" is none of the options: yes, no/)
      screen.type(`/answer ${id} yes${keys.enter}`)
      await screen.shows(new RegExp(`answered \\{"answer":"yes","by":"alice"\\}\n✔ ${run.id} completed\n· idle`))
    })

    it('goes on in a terminal that is made smaller', async () => {
      const thread = freshThread()
      const run = await runScript(server(), thread, [{ say: 'before ' }, { receive: {} }, { say: 'after' }])
      const screen = attach(run.id)
      await screen.shows(/before/)
      screen.resize(40, 12)
      screen.type(`a text that is as long as the terminal is wide now${keys.enter}`)
      await screen.shows(/after\n✔ bg_\d+ completed/)
      await screen.until((text) => (text.match(/^❯ *$/gm)?.length === 1 ? true : undefined))
    })
  })

  describe('holdfast attach elsewhere', () => {
    it('is the log of the thread, and says so', async () => {
      const thread = freshThread()
      await spawnScript(server(), thread, [{ say: 'before' }])
      const running = new RunningCli(['attach', thread], { server: server() })
      await running.until(/This is no terminal to type on/, 'stderr')
      const task = await spawnScript(server(), thread, [{ say: 'hi' }])
      await running.until(new RegExp(`${task.id}\t\\d+\t\\S+\ttask\\.completed`))
      running.child.kill('SIGINT')
      expect((await running.ended).code).toBe(130)
      expect((await snapshotOf(server(), thread)).head).toBe(8)
    })

    it('is refused for a thread in which nothing ever was, as its log is', async () => {
      const end = await cli(['attach', 'nix'], { server: server() })
      expect([end.code, end.stdout]).toEqual([5, ''])
      expect(end.stderr).toContain('There is no task and no thread nix')
    })

    it('is refused for a task that is not there', async () => {
      const end = await cli(['attach', 'bg_9999'], { server: server() })
      expect([end.code, end.stdout]).toEqual([5, ''])
      expect(end.stderr).toContain('There is no task bg_9999')
    })
  })
})
