import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventDraft, EventType } from '../../../src/core/event.ts'
import { encodeLine, LineDecoder } from '../../../src/core/event-line.ts'
import { taskId } from '../../../src/core/id.ts'
import { encodeKey } from '../../../src/core/step.ts'

describe('a line of the log', () => {
  const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const draft = fc
    .record({
      type: fc.constantFrom<EventType>('task.accepted', 'text.delta', 'custom'),
      task: optional(fc.nat().map((n) => taskId(`bg_${n}`))),
      epoch: optional(fc.nat()),
      step: optional(fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }).map(encodeKey)),
      data: fc.anything({ withNullPrototype: false, withBigInt: false }).map((value) => JSON.stringify({ value })),
    })
    .map((fields): EventDraft => {
      const { task, epoch, step, ...rest } = fields
      const given = {
        ...(task !== undefined && { task }),
        ...(epoch !== undefined && { epoch }),
        ...(step !== undefined && { step }),
      }
      return { ...rest, ...given }
    })

  it('gives back the event that it was made of, data to the byte', () => {
    fc.assert(
      fc.property(draft, fc.nat(), fc.nat(), (event, seq, at) => {
        const line = encodeLine(event)
        expect(new LineDecoder().decode(line, 0, line.length, seq, at)).toEqual({ ...event, seq, at })
      }),
    )
  })

  it('holds no line feed, and is read the same whatever line was read before it', () => {
    // Few drafts, each several times: lines in a row begin alike, or nearly so.
    const lines = fc
      .array(draft, { minLength: 1, maxLength: 3 })
      .chain((some) => fc.array(fc.constantFrom(...some), { minLength: 1, maxLength: 10 }))
    fc.assert(
      fc.property(lines, (events) => {
        const body = events.map(encodeLine).join('\n')
        const decoder = new LineDecoder()
        let begin = 0
        const decoded = body.split('\n').map((line, index) => {
          const event = decoder.decode(body, begin, begin + line.length, index, 0)
          begin += line.length + 1
          return event
        })
        expect(decoded).toEqual(events.map((event, index) => ({ ...event, seq: index, at: 0 })))
      }),
    )
  })
})
