import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventDraft, EventType } from '../../../src/core/event.ts'
import { decodeLine, encodeLine } from '../../../src/core/event-line.ts'
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
        expect(decodeLine(encodeLine(event), seq, at)).toEqual({ ...event, seq, at })
      }),
    )
  })

  it('holds no line feed, so that lines can be joined and split', () => {
    fc.assert(
      fc.property(fc.array(draft, { minLength: 1, maxLength: 10 }), (events) => {
        const lines = events.map(encodeLine).join('\n').split('\n')
        expect(lines.map((line, index) => decodeLine(line, index, 0))).toEqual(
          events.map((event, index) => ({ ...event, seq: index, at: 0 })),
        )
      }),
    )
  })
})
