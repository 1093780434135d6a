import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { isAwaited, type LivePart } from '../../../src/core/live-part.ts'
import { LiveThread } from '../../../src/core/live-thread.ts'
import type { QuestionRecord } from '../../../src/core/question.ts'
import { isTerminal } from '../../../src/core/status.ts'
import { isRun, type TaskRecord } from '../../../src/core/task.ts'
import type { Mail, TaskPut, Unit } from '../../../src/core/unit.ts'
import { mailTo, put, shown, unit } from './live-units.ts'
import { key, taskRecord } from './task-record.ts'

const error = { code: 'agent_error', message: 'no' } as const

describe('a live thread that is carried forward', () => {
  const ids = ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5']
  const id = fc.constantFrom(...ids)
  const change = fc.oneof(
    fc.record({
      do: fc.constant('accept' as const),
      id,
      parent: id,
      type: fc.constantFrom('run', 'agent'),
      wake: fc.boolean(),
    }),
    fc.record({
      do: fc.constantFrom('start' as const, 'end' as const, 'disarm' as const, 'take' as const),
      id,
    }),
    fc.record({ do: fc.constant('send' as const), id, mail: fc.nat({ max: 9 }) }),
    fc.record({ do: fc.constant('read' as const), mail: fc.nat({ max: 9 }) }),
    fc.record({
      do: fc.constantFrom('ask' as const, 'answer' as const, 'hear' as const),
      question: fc.nat({ max: 5 }),
      id,
    }),
    fc.record({ do: fc.constant('reload' as const) }),
  )
  type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

  /** A store in a few lines: all records, and the live part searched for in them. */
  class Records {
    readonly all = new Map<string, TaskRecord>()
    readonly ends: string[] = []
    mail: Mail[] = []
    readonly questions = new Map<string, QuestionRecord>()
    rev = 0

    part(): LivePart {
      const isLive = (task: string) => {
        const record = this.all.get(task)
        return record !== undefined && !isTerminal(record.status)
      }
      return {
        key,
        rev: this.rev,
        wakes: 0,
        tasks: [...this.all.values()].filter((record) => isLive(record.id)),
        ended: this.ends.flatMap((ended) => this.all.get(ended) ?? []).filter((record) => isAwaited(record, isLive)),
        mail: this.mail.filter((each) => isLive(each.task)),
        questions: [...this.questions.values()].filter((each) => !each.taken && isLive(each.task)),
      }
    }

    /** The same with all that nobody took. */
    wholePart(): LivePart {
      const ends = this.ends.flatMap((ended) => this.all.get(ended) ?? [])
      return { ...this.part(), untaken: ends.filter((record) => !record.taken && !isRun(record)) }
    }

    commit({ tasks = [], mail = [], read = [], take = [], questions = [] }: Unit): void {
      this.rev += 1
      for (const { record } of tasks) {
        this.all.set(record.id, record)
        if (isTerminal(record.status) && !this.ends.includes(record.id)) this.ends.push(record.id)
      }
      for (const { record } of questions) this.questions.set(record.id, record)
      this.mail = [...this.mail, ...mail].filter((each) => !read.includes(each.id))
      for (const task of take) {
        const record = this.all.get(task)
        if (record && isTerminal(record.status)) this.all.set(task, { ...record, taken: true })
      }
    }
  }

  it('equals one that is read anew, after any units', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const records = new Records()
        let live = new LiveThread(records.part())
        let whole = new LiveThread(records.wholePart())
        for (const next of changes) {
          if (next.do === 'reload') {
            live = new LiveThread(records.part())
            whole = new LiveThread(records.wholePart())
            continue
          }
          const decided = unit({ rev: live.rev, ...decide(next, records) })
          live.apply(decided)
          whole.apply(decided)
          records.commit(decided)
          expect(shown(live, ids)).toEqual(shown(new LiveThread(records.part()), ids))
          expect(untakenIn(whole)).toEqual(untakenIn(new LiveThread(records.wholePart())))
        }
      }),
    )
  })

  /** Whoever takes them puts them into the order of their ends. */
  function untakenIn(live: LiveThread): TaskRecord[] {
    return [...live.untaken()].sort((a, b) => a.id.localeCompare(b.id))
  }

  function decide(next: Exclude<Change, { do: 'reload' }>, records: Records): Partial<Unit> {
    const { all, mail } = records
    if (next.do === 'read') return { read: [`m${next.mail}`] }
    if ('question' in next) return decideQuestion(next, records)
    const record = all.get(next.id)
    if (next.do === 'accept') return record ? {} : { tasks: [accepted(next, all)] }
    if (next.do === 'take') return { take: [taskId(next.id)] }
    if (!record) return {}
    const isLive = !isTerminal(record.status)
    if (next.do === 'send') {
      const isNew = !mail.some((each) => each.id === `m${next.mail}`)
      return isLive && isNew ? { mail: [mailTo(`m${next.mail}`, next.id)] } : {}
    }
    if (next.do === 'start') return isLive ? { tasks: [put({ ...record, status: 'running' })] } : {}
    if (next.do === 'end') return isLive ? { tasks: [put({ ...record, status: 'failed', error })] } : {}
    const { wake: _disarmed, ...rest } = record
    return { tasks: [put(rest)] }
  }

  function decideQuestion(
    { do: act, question, id: task }: Extract<Change, { question: number }>,
    { questions, all }: Records,
  ): Partial<Unit> {
    const known = questions.get(`q${question}`)
    if (act === 'ask' && !known && all.has(task)) {
      const step = { stepKey: `~ask#${question}`, text: '?', askedAt: 0, taken: false }
      return { questions: [{ record: { id: `q${question}`, key, task: taskId(task), ...step }, isNew: true }] }
    }
    if (!known || act === 'ask') return {}
    return { questions: [{ record: { ...known, answer: '1', by: 'me', taken: act === 'hear' }, isNew: false }] }
  }

  function accepted(next: Extract<Change, { do: 'accept' }>, all: Records['all']): TaskPut {
    const parent = all.get(next.parent)
    const name = ['a', 'b'].find((each) => isFree(each, all))
    const fields = {
      type: next.type,
      ...(parent && !isTerminal(parent.status) && { parent: { task: parent.id } }),
      ...(next.wake && { wake: 'helper' }),
      ...(name !== undefined && { name }),
    }
    return put(taskRecord(next.id, { status: 'pending', ...fields }), { isNew: true })
  }

  function isFree(name: string, all: Records['all']): boolean {
    return ![...all.values()].some((record) => record.name === name && !isTerminal(record.status))
  }
})
