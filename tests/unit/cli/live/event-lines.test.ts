import { describe, expect, it } from 'vitest'
import { EventLines } from '../../../../src/cli/live/event-lines.ts'
import type { Style } from '../../../../src/cli/show/show.ts'
import type { ThreadEvent } from '../../../../src/client/index.ts'
import { event } from './events.ts'

const identity = (text: string): string => text
const plain = new Proxy({}, { get: () => identity }) as Style

function printed(events: readonly ThreadEvent[], options: Partial<ConstructorParameters<typeof EventLines>[0]> = {}) {
  const lines = new EventLines({ style: plain, ...options })
  return events.map((each) => lines.add(each)).join('') + lines.end()
}

const at = '1970-01-01T00:00:00.000Z'

describe('events as lines', () => {
  it('have number, time, type and what they say', () => {
    expect(printed([event(1, 'custom', { name: 'tick', payload: { n: 1 } })])).toBe(`1\t${at}\tcustom\ttick {"n":1}\n`)
  })

  it('join what is said piece by piece, until something else happens', () => {
    const said = [
      event(1, 'text.delta', { text: 'one ' }),
      event(2, 'text.delta', { text: 'two\nth' }),
      event(3, 'text.delta', { text: 'ree' }),
      event(4, 'progress', { value: 0.5, note: 'half' }),
      event(5, 'thinking', { text: 'hm' }),
      event(6, 'text.delta', { text: 'four' }),
    ]
    const lines = [`1\t${at}\ttext.delta\tone two three`, `4\t${at}\tprogress\t50 % half`]
    expect(printed(said)).toBe(`${[...lines, `5\t${at}\tthinking\thm`, `6\t${at}\ttext.delta\tfour`].join('\n')}\n`)
  })

  it('are one line each in a pipe, whatever is said; on a terminal the lines of a text are kept', () => {
    const said = [event(1, 'text.delta', { text: 'l1\nl2\tx\n' }), event(2, 'text.delta', { text: '\nl3\u2028l4' })]
    expect(printed(said)).toBe(`1\t${at}\ttext.delta\tl1 l2 x  l3 l4\n`)
    expect(printed(said, { columns: () => 80 })).toMatch(/l1\n {4}l2\tx\n {4}\n {4}l3/)
  })

  it('keep apart what two tasks say at once', () => {
    const said = ['bg_1', 'bg_2', 'bg_1'].map((task, index) => event(index, 'text.delta', { text: task }, task))
    const lines = printed(said, { prefix: ({ task = '' }) => [task] })
      .trimEnd()
      .split('\n')
    expect(lines.map((line) => line.split('\t').filter((_, column) => column % 4 === 0))).toEqual([
      ['bg_1', 'bg_1'],
      ['bg_2', 'bg_2'],
      ['bg_1', 'bg_1'],
    ])
  })

  it('are cut to the width of a terminal', () => {
    const [line = ''] = printed([event(1, 'answer', { output: 'x'.repeat(200) })], { columns: () => 60 }).split('\n')
    expect(line).toHaveLength(60)
    expect(line).toMatch(/^ {4}1 \d\d:\d\d:\d\d answer {10} x+…$/)
  })

  it('tell why a task failed whole, however narrow the terminal', () => {
    const message = 'too bad '.repeat(40).trim()
    const failed = event(1, 'task.failed', { error: { code: 'agent_error', message } })
    expect(printed([failed], { columns: () => 60 })).toContain(`agent_error: ${message}\n`)
  })

  it('never tell a terminal anything', () => {
    const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\r\u202eevil'
    const all = [
      event(1, 'text.delta', { text: hostile }),
      event(2, 'thinking', { text: `${hostile}\u001b` }),
      event(3, 'text.delta', { text: '[31mcut in two' }),
      event(4, 'custom', { name: 'x', payload: hostile }),
      event(5, 'tool.call', { id: hostile, name: hostile, input: hostile }),
      event(6, 'question.asked', { question: { id: 'q', text: hostile, options: [hostile] } }),
      event(7, 'task.failed', { error: { code: 'agent_error', message: `a\n${hostile}` } }),
      event(8, 'newer.type', { [hostile]: hostile }),
    ]
    const text = printed(all, { prefix: () => [hostile] })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(text).toContain('evil')
    expect(text.trimEnd().split('\n')).toHaveLength(all.length)
  })

  it('say who cancels a task, and why in the words that were given', () => {
    const by = (data: object) => printed([event(1, 'task.cancelling', { by: 'owner', ...data })])
    expect(by({ reason: 'because of that' })).toContain('\tby owner: because of that\n')
    expect(by({})).toContain('\tby owner\n')
  })

  it('say what a resume abandons, and nothing if it abandons nothing', () => {
    const said = [3, 4, 5, 6].map((seq) => event(seq, 'text.delta', { text: 'x' }))
    const resumed = (data: object) => printed([...said, event(9, 'task.resumed', { attempt: 2, node: 'n', ...data })])
    expect(resumed({ keep: 4 })).toContain('attempt 2 on n; events 5-6 do not count\n')
    expect(resumed({ keep: 5, dropped: [[3, 3]] })).toContain('; events 3, 6 do not count')
    expect(resumed({ keep: 5 })).toContain('; event 6 does not count\n')
    expect(resumed({ keep: 6 })).toContain('attempt 2 on n\n')
  })
})
