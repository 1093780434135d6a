import { describe, expect, it } from 'vitest'
import { ageText, durationText } from '../../../console/src/design/span-text.ts'
import { abandonedIn, countAfter, matchingEvents } from '../../../console/src/views/task/event-filter.ts'
import { summaryOf } from '../../../console/src/views/task/event-summary.ts'
import type { ThreadEvent } from '../../../src/client/index.ts'

function event(seq: number, type: string, data: object, task = 'bg_0'): ThreadEvent {
  return { thread: 't', seq, task, type, at: seq, data } as unknown as ThreadEvent
}

describe('a line of the log', () => {
  it.each([
    ['text.delta', { text: 'two\nlines \u001b[1mbold' }, 'two lines bold'],
    ['tool.call', { id: 'c', name: 'search', input: { q: 1 } }, 'search {"q":1}'],
    ['tool.result', { id: 'c', error: 'gone' }, 'error: gone'],
    ['progress', { value: 0.256, note: 'reading' }, '26 % reading'],
    ['task.failed', { error: { code: 'timeout', message: 'too long' } }, 'timeout: too long'],
    ['task.cancelled', { error: { code: 'cancelled', message: 'cancelled' }, forced: true }, 'forced: cancelled'],
    ['usage', { input: 3, output: 4 }, 'input 3, output 4'],
    ['message.created', { message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] } }, 'user: hello'],
    ['message.created', { message: { role: 'user' }, partsOmitted: true }, 'user: a message too large for an event'],
    ['tool.result', { id: 'c', outputOmitted: true }, 'an output too large for an event'],
    ['task.resumed', { attempt: 2, node: 'n', keep: 3 }, 'attempt 2 on n, after #3'],
    ['something.new', { a: 1 }, '{"a":1}'],
  ])('says of %s what it is about', (type, data, line) => {
    expect(summaryOf(event(1, type, data))).toBe(line)
  })

  it('is cut where nobody reads on', () => {
    expect(summaryOf(event(1, 'text.delta', { text: 'a'.repeat(10_000) })).length).toBeLessThan(300)
  })
})

describe('a log', () => {
  const log = [
    event(1, 'text.delta', { text: 'kelp' }),
    event(4, 'tool.call', { name: 'search', input: 'kelp' }),
    event(9, 'progress', { value: 1 }),
  ]

  it('is filtered by every word, in number, task, type and line', () => {
    const found = (text: string) => matchingEvents(log, text).map(({ seq }) => seq)
    expect([found(''), found('KELP'), found('kelp tool.'), found('#9'), found('bg_1')]).toEqual([
      [1, 4, 9],
      [1, 4],
      [4],
      [9],
      [],
    ])
  })

  it('counts what is new', () => {
    expect([countAfter(log, 0), countAfter(log, 4), countAfter(log, 9)]).toEqual([3, 1, 0])
  })

  it('knows what a later attempt abandoned', () => {
    const events = [
      event(1, 'text.delta', { text: 'kept' }),
      event(2, 'text.delta', { text: 'dropped' }),
      event(3, 'text.delta', { text: 'kept' }),
      event(4, 'text.delta', { text: 'after' }),
      event(5, 'text.delta', { text: 'of another' }, 'bg_1'),
      event(6, 'inbox.accepted', { id: 'm', content: 'stands' }),
      event(7, 'task.resumed', { attempt: 2, node: 'n', keep: 3, dropped: [[2, 2]] }),
      event(8, 'text.delta', { text: 'again' }),
    ]
    expect([...abandonedIn(events)]).toEqual([2, 4])
  })
})

describe('a time', () => {
  it('is said as exactly as is worth reading', () => {
    const spans = [0, 340, 4250, 42_900, 185_000, 7_810_000, 360_000_000]
    expect(spans.map(durationText)).toEqual(['0 ms', '340 ms', '4.2 s', '42 s', '3 m 05 s', '2 h 10 m', '4 d 4 h'])
    expect([-50, 1500, 12_000, 300_000, 10_800_000, 800_000_000].map(ageText)).toEqual([
      'now',
      'now',
      '12 s',
      '5 m',
      '3 h',
      '9 d',
    ])
  })
})
