import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EventType, type StoredEvent, toEvent } from '../../../src/core/event.ts'
import { encodeLine } from '../../../src/core/event-line.ts'
import { decodeRow, rowAfter } from '../../../src/core/event-row.ts'
import { eventText, rowTexts } from '../../../src/core/event-text.ts'
import { principal, taskId, threadId, threadKey, threadPattern } from '../../../src/core/id.ts'

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const plainTypes: readonly EventType[] = ['text.delta', 'tool.call', 'custom', 'task.completed', 'inbox.accepted']
const text = fc.string({ unit: 'binary', maxLength: 30 })
const given = fc.dictionary(text, fc.jsonValue(), { maxKeys: 5 })

const plain = fc.record({ type: fc.constantFrom(...plainTypes), data: given })
const accepted = fc
  .record({ task: given, createdAt: optional(fc.nat()), more: given })
  .map(({ task, createdAt, more }) => ({
    type: 'task.accepted' as const,
    data: { ...more, task: { ...task, ...(createdAt !== undefined && { createdAt }) } },
  }))
const created = fc
  .record({ message: given, more: given })
  .map(({ message, more }) => ({ type: 'message.created' as const, data: { ...more, message } }))

const asked = fc
  .record({ question: given, more: given })
  .map(({ question, more }) => ({ type: 'question.asked' as const, data: { ...more, question } }))

const stored = fc
  .record({
    content: fc.oneof(plain, accepted, created, asked),
    seq: fc.maxSafeNat(),
    at: fc.maxSafeNat(),
    // A restored task may bring any id.
    task: optional(
      fc.oneof(
        fc.nat().map((n) => `bg_${n}`),
        fc.constantFrom('a"b\\c', '\u{1f600} é', "'"),
      ),
    ),
    epoch: optional(fc.nat()),
    step: optional(fc.constant('step')),
  })
  .map(({ content, task, epoch, step, ...rest }): StoredEvent => {
    const present = {
      ...(task !== undefined && { task: taskId(task) }),
      ...(epoch !== undefined && { epoch }),
      ...(step !== undefined && { step }),
    }
    return { ...rest, ...present, type: content.type, data: JSON.stringify(content.data) }
  })

const key = fc
  .stringMatching(/^[A-Za-z0-9._:@~-]{1,128}$/)
  .filter((thread) => threadPattern.test(thread))
  .map((thread) => threadKey(principal('a"b\\c'), threadId(thread)))

describe('the text of an event', () => {
  it('says what the event says', () => {
    fc.assert(
      fc.property(key, stored, (thread, event) => {
        expect(JSON.parse(eventText(thread, event))).toEqual(toEvent(thread, event))
      }),
      { numRuns: 1000 },
    )
  })

  it('holds the data to the byte as it was first encoded', () => {
    const data = '{"text":"\\ud800 \\u0000","n":1.0E2}'
    const event: StoredEvent = { seq: 7, at: 900, type: 'text.delta', task: taskId('bg_1'), epoch: 2, step: 's', data }
    const thread = threadKey(principal('owner'), threadId('t'))
    expect(eventText(thread, event)).toBe(
      `{"thread":"t","seq":7,"task":"bg_1","type":"text.delta","at":900,"epoch":2,"data":${data}}`,
    )
  })

  it('is one line', () => {
    fc.assert(
      fc.property(key, stored, (thread, event) => {
        expect(eventText(thread, event)).not.toMatch(/[\r\n]/)
      }),
    )
  })

  it('is the same, handed out for the rows in which events are stored', () => {
    const lineOf = fc.record({ event: stored, times: fc.integer({ min: 1, max: 3 }) })
    fc.assert(
      fc.property(key, fc.array(lineOf, { minLength: 1, maxLength: 6 }), (thread, lines) => {
        const events = lines
          .flatMap(({ event, times }) => Array.from({ length: times }, () => event))
          .map((event, index): StoredEvent => ({ ...event, seq: 9 + index, at: 5 }))
        const row = { first: 9, last: 8 + events.length, at: 5, body: events.map(encodeLine).join('\n') }
        const texts: [number, string][] = []
        rowTexts(thread, row, (seq, each) => texts.push([seq, each]))
        expect(texts).toEqual(events.map((event) => [event.seq, eventText(thread, event)]))
        expect(decodeRow(row)).toEqual(events)
      }),
    )
  })

  it('follows any number of a row', () => {
    const body = ['a', 'b', 'c'].map((each) => `custom\t\t\t\t"${each}"`).join('\n')
    const row = { first: 4, last: 6, at: 5, body }
    for (const after of [0, 3, 4, 5]) {
      const rest = rowAfter(row, after)
      expect(rest.first).toBe(Math.max(4, after + 1))
      expect(decodeRow(rest)).toEqual(decodeRow(row).filter(({ seq }) => seq > after))
    }
  })
})
