import { describe, expect, it } from 'vitest'
import type { Cli } from '../../../../src/cli/command.ts'
import { RunPrinter, type RunShows } from '../../../../src/cli/live/run-printer.ts'
import { createShow } from '../../../../src/cli/show/show.ts'
import type { Task } from '../../../../src/client/index.ts'
import { fakeSurroundings } from '../fake-surroundings.ts'
import { event } from './events.ts'

const task = { id: 'bg_0', thread: 't', status: 'pending', position: 2 } as unknown as Task
const ended = { ...task, status: 'completed', startedAt: 0, completedAt: 1500 } as Task

function printing(shows: RunShows, isTty = false, flags: { readonly quiet?: boolean; readonly json?: boolean } = {}) {
  const around = fakeSurroundings({ isTty })
  const global = { json: shows === 'json', quiet: false, color: false, ...flags }
  const cli = { around, global, start: 'holdfast', show: createShow(around, global) } as unknown as Cli
  return { printer: new RunPrinter(cli, task, shows), written: around.written, around }
}

describe('a run that is followed', () => {
  it('says on stderr that text which was printed does not count', () => {
    const { printer, written } = printing('text')
    printer.event(event(4, 'text.delta', { text: 'one ' }))
    printer.event(event(5, 'text.delta', { text: 'tw' }))
    printer.event(event(6, 'task.resumed', { attempt: 2, node: 'n', keep: 4 }))
    printer.event(event(7, 'text.delta', { text: 'two' }))
    printer.end(ended)
    expect(written.out).toBe('one twtwo\n')
    expect(written.err).toBe('bg_0 goes on; event 5 does not count\n✔ bg_0 completed (1.5s)\n')
  })

  it('says nothing in the middle of a line of a terminal', () => {
    const { printer, written } = printing('text', true)
    printer.event(event(4, 'text.delta', { text: 'one' }))
    printer.event(event(5, 'tool.call', { id: 'c', name: 'search', input: {} }))
    printer.event(event(6, 'text.delta', { text: 'two' }))
    printer.end(ended)
    expect(written.out).toBe('one\ntwo\n')
  })

  it('prints its result where it has said nothing, and where only that is wanted', () => {
    for (const shows of ['text', 'result'] as const) {
      const { printer, written } = printing(shows)
      if (shows === 'result') printer.event(event(4, 'text.delta', { text: 'not this' }))
      printer.end({ ...ended, result: 'it\u001b[2J' })
      expect(written.out).toBe('it\n')
    }
  })

  it.each(['failed', 'cancelled'] as const)('says why it ended as %s also to who wants no hints', (status) => {
    const error = { code: 'agent_error', message: 'too\nbad' } as const
    const { printer, written } = printing('result', false, { quiet: true })
    printer.end({ ...ended, status, error })
    expect(written.err).toMatch(new RegExp(`^. bg_0 ${status}: too bad \\(1.5s\\)\n$`))
    const told = printing('result', false, { quiet: true, json: true })
    told.printer.end({ ...ended, status, error })
    const well = printing('result', false, { quiet: true })
    well.printer.end(ended)
    expect([told.written.err, well.written.err]).toEqual(['', ''])
  })

  it('says how it stands while it waits and while it runs', () => {
    const { printer, written, around } = printing('result', true)
    around.fireTimers()
    expect(written.err).toContain('bg_0 pending behind 2 0s')
    printer.event(event(2, 'task.started', { attempt: 1, node: 'n' }))
    printer.event(event(3, 'progress', { value: 0.25, note: 'reading\u001b[2J' }))
    around.fireTimers()
    expect(written.err).toContain('bg_0 running 0s █████░░░░░░░░░░░░░░░ 25 % reading')
    printer.event(event(4, 'question.asked', { question: { id: 'q_1', task: 'bg_0', text: 'Go on?' } }))
    const elsewhere = '  (in another terminal; or Ctrl-C, then holdfast attach t)'
    expect(written.err).toContain(`  ? Go on?\n  Answer it: holdfast answer q_1 TEXT${elsewhere}\n`)
    around.fireTimers()
    expect(written.err).toContain('25 % waits for an answer')
    written.err = ''
    printer.event(event(5, 'question.answered', { id: 'q_1', by: 'owner', answer: 'yes' }))
    around.fireTimers()
    expect(written.err).not.toContain('waits for an answer')
    printer.close()
  })
})
