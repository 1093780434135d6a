import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EventType, isEmitted, type Range, type StoredEvent } from '../../../src/core/event.ts'
import { taskId } from '../../../src/core/id.ts'
import type { PartsFold } from '../../../src/core/parts.ts'
import { EmitBag } from '../../../src/core/resume.ts'
import type { StepRecord } from '../../../src/core/step.ts'
import { foldParts, standing } from './fold-parts.ts'
import { planResume, type ResumePlan } from './plan-resume.ts'

const startedSeq = 2

function event(seq: number, type: EventType, data: unknown, step?: string): StoredEvent {
  return { seq, at: 0, type, data: JSON.stringify(data), ...(step !== undefined && { step }) }
}

const say = (seq: number, step?: string) => event(seq, 'text.delta', { text: `${seq}` }, step)

function record(key: string, seq: number): StepRecord {
  return { task: taskId('bg_1'), key, kind: 'step', overlapped: false, attempt: 1, seq }
}

function resumed(seq: number, { keep, dropped }: Pick<ResumePlan, 'keep' | 'dropped'>): StoredEvent {
  return event(seq, 'task.resumed', { attempt: 2, node: 'n', keep, ...(dropped.length > 0 && { dropped }) })
}

const numbers = (plan: ResumePlan) => plan.counted.map((emit) => emit.seq)

describe('ResumePlanning', () => {
  it('keeps nothing after the start if no step is recorded', () => {
    const plan = planResume(startedSeq, [event(2, 'task.started', {}), say(3), say(4, 'a')], [])
    expect(plan).toMatchObject({ keep: 2, dropped: [], counted: [] })
  })

  it('counts what a recorded step emitted, and not what an unrecorded one did', () => {
    const plan = planResume(startedSeq, [say(3, 'a'), say(4, 'a'), say(5, 'b')], [record('a', 4)])
    expect(plan).toMatchObject({ keep: 4, dropped: [] })
    expect(numbers(plan)).toEqual([3, 4])
  })

  it('counts what was emitted outside steps up to the last record', () => {
    const plan = planResume(startedSeq, [say(3), say(4, 'a'), say(5), say(6), say(7)], [record('a', 4), record('b', 6)])
    expect(numbers(plan)).toEqual([3, 4, 5, 6])
    expect(plan.keep).toBe(6)
  })

  it('lets the innermost step decide', () => {
    const events = [say(3, 'p'), say(4, 'p/a'), say(5, 'p'), say(6, 'p/b')]
    expect(planResume(startedSeq, events, [record('p/a', 4)])).toMatchObject({ keep: 4, dropped: [[3, 3]] })
  })

  it('drops the longest ranges with no counting emit between', () => {
    const events = [
      say(3, 'x'),
      say(4, 'a'),
      say(6, 'x'),
      event(7, 'task.cancelling', {}),
      say(9, 'y'),
      say(10, 'a'),
      say(11, 'x'),
    ]
    expect(planResume(startedSeq, events, [record('a', 10)])).toMatchObject({
      keep: 10,
      dropped: [
        [3, 3],
        [6, 9],
      ],
    })
  })

  it('leaves abandoned what an earlier resume abandoned, though the step is recorded now', () => {
    const first = [say(3, 'a'), say(4)]
    const events = [...first, resumed(5, planResume(startedSeq, first, [])), say(6, 'a'), say(7)]
    const plan = planResume(startedSeq, events, [record('a', 7)])
    expect(numbers(plan)).toEqual([6, 7])
    expect(plan).toMatchObject({ keep: 7, dropped: [[3, 4]] })
  })

  it('bags only what was emitted outside steps', () => {
    const { bag } = planResume(startedSeq, [say(3), say(4, 'a'), say(5)], [record('a', 4)])
    const take = (n: number) => bag.take('text.delta', JSON.stringify({ text: `${n}` }))
    expect([take(3), take(3), take(4), take(5)]).toEqual([true, false, false, false])
  })
})

describe('standing', () => {
  it('leaves out abandoned emits, and nothing that the runtime wrote', () => {
    const events = [
      say(2),
      event(3, 'inbox.accepted', {}),
      say(4),
      event(5, 'task.cancelling', {}),
      say(6),
      say(7),
      say(8),
      event(9, 'message.created', {}),
      resumed(10, { keep: 7, dropped: [[4, 6]] }),
      say(11),
    ]
    expect(standing(events).map(({ seq }) => seq)).toEqual([2, 3, 5, 7, 9, 10, 11])
  })
})

describe('EmitBag', () => {
  it('gives out each emit as often as it holds it, by type and data', () => {
    const bag = new EmitBag([say(1), say(1), event(2, 'thinking', { text: '1' })])
    const data = '{"text":"1"}'
    expect([1, 2, 3].map(() => bag.take('text.delta', data))).toEqual([true, true, false])
    expect(bag.take('thinking', '{"text":"2"}')).toBe(false)
    expect([bag.take('thinking', data), bag.take('thinking', data)]).toEqual([true, false])
  })
})

describe('the plans of a task that crashes again and again', () => {
  const path = fc.constantFrom('a', 'b', 'p', 'p/a')
  const text = fc.constantFrom('x', 'y')
  const action = fc.oneof(
    fc.record({ do: fc.constant('emit' as const), step: fc.option(path, { nil: undefined }), text }),
    fc.record({ do: fc.constant('call' as const), step: fc.option(path, { nil: undefined }), text }),
    fc.record({ do: fc.constant('result' as const), step: fc.option(path, { nil: undefined }), text }),
    fc.record({ do: fc.constant('record' as const), step: path }),
    fc.record({ do: fc.constant('note' as const) }),
    fc.record({ do: fc.constant('skip' as const) }),
  )
  const attempts = fc.array(fc.array(action, { maxLength: 12 }), { minLength: 1, maxLength: 4 })
  type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never

  class Log {
    readonly events: StoredEvent[] = []
    readonly steps = new Map<string, StepRecord>()
    head = startedSeq

    act(next: Action): void {
      this.head += 1
      if (next.do === 'emit') this.events.push(event(this.head, 'text.delta', { text: next.text }, next.step))
      if (next.do === 'call')
        this.events.push(event(this.head, 'tool.call', { id: next.text, name: 't', input: 0 }, next.step))
      if (next.do === 'result')
        this.events.push(event(this.head, 'tool.result', { id: next.text, output: 1 }, next.step))
      if (next.do === 'note') this.events.push(event(this.head, 'inbox.accepted', { id: 'm', content: '' }))
      if (next.do === 'record' && !this.steps.has(next.step)) this.steps.set(next.step, record(next.step, this.head))
    }

    plan(): ResumePlan {
      return planResume(startedSeq, this.events, [...this.steps.values()])
    }

    resume(plan: ResumePlan): void {
      this.head += 1
      this.events.push(resumed(this.head, plan))
    }
  }

  /** Runs all attempts, and looks at the log after each crash, before and after its resume. */
  function eachCrash(
    all: Action[][],
    look: (log: Log, plan: ResumePlan, before: readonly StoredEvent[]) => void,
  ): void {
    const log = new Log()
    for (const actions of all) {
      for (const next of actions) log.act(next)
      const before = [...log.events]
      const plan = log.plan()
      log.resume(plan)
      look(log, plan, before)
    }
  }

  it('count what stands once the resume is written, for the message as for a client that obeys the letter', () => {
    fc.assert(
      fc.property(attempts, (all) => {
        eachCrash(all, (log, plan) => {
          expect(standing(log.events).filter(isEmitted)).toEqual(plan.counted)
          expect(byTheLetter(log.events)).toEqual(plan.counted)
          expect(shown(foldParts(log.events))).toEqual(shown(foldParts(plan.counted)))
        })
      }),
    )
  })

  it('are the same when made again after their own resume', () => {
    fc.assert(
      fc.property(attempts, (all) => {
        eachCrash(all, (log, { keep, dropped, counted }) =>
          expect(log.plan()).toMatchObject({ keep, dropped, counted }),
        )
      }),
    )
  })

  it('never bring back what an earlier one abandoned', () => {
    fc.assert(
      fc.property(attempts, (all) => {
        const abandoned = new Set<StoredEvent>()
        eachCrash(all, (_log, { counted }, before) => {
          for (const emit of counted) expect(abandoned.has(emit)).toBe(false)
          for (const emit of before) if (isEmitted(emit) && !counted.includes(emit)) abandoned.add(emit)
        })
      }),
    )
  })

  it('have the shortest list of ranges, in order and below keep', () => {
    fc.assert(
      fc.property(attempts, (all) => {
        eachCrash(all, (_log, { keep, dropped, counted }) => {
          const bounds = [...dropped.flat(), keep]
          expect(bounds).toEqual(bounds.toSorted((a, b) => a - b))
          const isParted = (range: Range, next: number) =>
            counted.some(({ seq }) => seq > range[1] && (next === keep ? seq <= keep : seq < next))
          for (const [index, range] of dropped.entries()) {
            expect(isParted(range, dropped[index + 1]?.[0] ?? keep)).toBe(true)
          }
        })
      }),
    )
  })

  function shown({ parts, openCalls, answer }: PartsFold): unknown {
    return { parts, openCalls, answer }
  }

  /** The emits that stand, word by word as the wire contract says it. */
  function byTheLetter(events: readonly StoredEvent[]): StoredEvent[] {
    const resumes = events.filter(({ type }) => type === 'task.resumed')
    const isAbandonedBy = (emit: StoredEvent, resume: StoredEvent) => {
      const { keep, dropped = [] } = JSON.parse(resume.data) as { keep: number; dropped?: Range[] }
      const isDropped = dropped.some(([first, last]) => first <= emit.seq && emit.seq <= last)
      return emit.seq < resume.seq && (emit.seq > keep || isDropped)
    }
    return events.filter((emit) => isEmitted(emit) && !resumes.some((resume) => isAbandonedBy(emit, resume)))
  }
})
