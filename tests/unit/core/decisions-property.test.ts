import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTerminalEvent } from '../../../src/core/event.ts'
import type { TaskId } from '../../../src/core/id.ts'
import { isOpen } from '../../../src/core/question.ts'
import { isTerminal } from '../../../src/core/status.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { liveIds, ThreadMachine } from './thread-machine.ts'

type Command =
  | { readonly kind: 'spawn'; readonly under: number; readonly detached: boolean; readonly name?: string }
  | { readonly kind: 'run'; readonly onBusy: 'queue' | 'steer' | 'interrupt' | 'reject' }
  | { readonly kind: 'start' | 'complete' | 'fail'; readonly at: number }
  | {
      readonly kind: 'ask' | 'answer' | 'expire'
      readonly at: number
      readonly key: 'a' | 'b' | 'c'
      readonly ms: number
    }
  | { readonly kind: 'cancel'; readonly at: number; readonly reach: 'task' | 'tree' | 'runs' | 'all' }

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('ask' as const, 'answer' as const, 'expire' as const),
    at: fc.nat(9),
    key: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
    ms: fc.nat(4),
  }),
  fc.record({
    kind: fc.constant('spawn' as const),
    under: fc.nat(9),
    detached: fc.boolean(),
    name: fc.constantFrom('a', 'b'),
  }),
  fc.record({ kind: fc.constant('spawn' as const), under: fc.nat(9), detached: fc.boolean() }),
  fc.record({
    kind: fc.constant('run' as const),
    onBusy: fc.constantFrom('queue' as const, 'steer' as const, 'interrupt' as const, 'reject' as const),
  }),
  fc.record({ kind: fc.constantFrom('start' as const, 'complete' as const, 'fail' as const), at: fc.nat(9) }),
  fc.record({
    kind: fc.constant('cancel' as const),
    at: fc.nat(9),
    reach: fc.constantFrom('task' as const, 'tree' as const, 'runs' as const, 'all' as const),
  }),
)

function obey(machine: ThreadMachine, given: Command): readonly TaskId[] {
  const ids = liveIds(machine)
  const pick = (n: number): TaskId | undefined => (ids.length === 0 ? undefined : ids[n % ids.length])
  switch (given.kind) {
    case 'spawn': {
      // One in ten is a root; the others hang below something that lives.
      const parent = given.under === 0 ? undefined : pick(given.under)
      const options = { ...(given.detached && { detached: true as const }), ...(given.name && { name: given.name }) }
      machine.spawn(parent, options)
      return []
    }
    case 'run':
      machine.run(given.onBusy)
      return []
    case 'ask':
    case 'answer':
    case 'expire':
      obeyQuestion(machine, given, pick(given.at))
      return []
    case 'cancel': {
      const target = pick(given.at)
      if (given.reach === 'runs' || given.reach === 'all') return machine.cancel({ kind: given.reach })
      return target === undefined ? [] : machine.cancel({ kind: given.reach, task: target })
    }
    default: {
      const target = pick(given.at)
      if (target === undefined) return []
      if (given.kind === 'start') machine.start(target)
      if (given.kind === 'complete') machine.end(target, { status: 'completed' })
      if (given.kind === 'fail') {
        machine.end(target, { status: 'failed', error: { code: 'agent_error', message: 'broken' } })
      }
      return []
    }
  }
}

function obeyQuestion(
  machine: ThreadMachine,
  { kind, at, key, ms }: Extract<Command, { kind: 'ask' | 'answer' | 'expire' }>,
  target: TaskId | undefined,
): void {
  machine.now += ms
  if (kind === 'ask' && target !== undefined) machine.ask(target, key)
  const questions = [...machine.questions.values()]
  const question = questions[at % Math.max(1, questions.length)]
  if (kind === 'answer' && question) machine.answer(question)
  if (kind === 'expire' && question) machine.expire(question)
}

/** A question has one end at most, by the end of its task at the latest, and a task never has two of one key at a time. */
function checkQuestions(machine: ThreadMachine): void {
  const ends = new Map<string, number>()
  for (const { type, data } of machine.log) {
    if (type !== 'question.answered' && type !== 'question.closed') continue
    const { id } = JSON.parse(data) as { id: string }
    ends.set(id, (ends.get(id) ?? 0) + 1)
  }
  for (const question of machine.questions.values()) {
    const hasEnded = isTerminal(machine.records.get(question.task)?.status ?? 'pending')
    expect(isOpen(question) && hasEnded).toBe(false)
    expect(ends.get(question.id) ?? 0).toBe(isOpen(question) ? 0 : 1)
  }
  for (const { id } of machine.live.tasks()) {
    const keys = machine.live.questionsOf(id).map(({ stepKey }) => stepKey)
    expect(new Set(keys).size).toBe(keys.length)
  }
}

function checkAlways(machine: ThreadMachine): void {
  const live = [...machine.live.tasks()]
  const running = live.filter((record) => record.type === 'run' && record.status === 'running')
  expect(running.length).toBeLessThanOrEqual(1)
  const names = live.flatMap((record) => record.name ?? [])
  expect(new Set(names).size).toBe(names.length)
  const ready = machine.live.runs().filter((record) => record.ready)
  const waiting = machine.live.runs().filter((record) => record.status === 'pending')
  expect(ready.length).toBe(running.length === 0 && waiting.length > 0 ? 1 : 0)
  if (ready[0]) expect(ready[0].place).toBe(Math.min(...waiting.map((record) => record.place)))
  for (const record of live) checkFamily(machine, record)
  checkQuestions(machine)
}

function checkFamily(machine: ThreadMachine, record: TaskRecord): void {
  const parent = record.parent?.task && machine.records.get(record.parent.task)
  if (!parent || record.detached || !isTerminal(parent.status)) return
  // An attached child outlives its parent only as one that is being cancelled.
  expect(record.cancelRequestedAt).toBeDefined()
}

function checkEnd(machine: ThreadMachine): void {
  for (const [id, record] of machine.records) {
    const own = machine.log.filter((event) => event.task === id)
    expect(isTerminal(record.status)).toBe(true)
    expect(own.filter(isTerminalEvent)).toHaveLength(1)
    expect(own.filter((event) => event.type === 'task.cancelling').length).toBeLessThanOrEqual(1)
    expect(own.at(-1)?.type).toBe(`task.${record.status}`)
  }
}

describe('decisions', () => {
  it.each([{ hasSlots: true }, { hasSlots: false }])(
    'keep one running run, unique names and one ending per task, whatever is asked (slots: $hasSlots)',
    ({ hasSlots }) => {
      fc.assert(
        fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
          const machine = new ThreadMachine(hasSlots)
          for (const given of commands) {
            obey(machine, given)
            checkAlways(machine)
          }
          machine.drain()
          checkEnd(machine)
        }),
        { numRuns: 300 },
      )
    },
  )

  it('end every task that a cancel answered with as cancelled, and no other that completes', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const machine = new ThreadMachine(true)
        const cancelled = new Set(commands.flatMap((given) => [...obey(machine, given)]))
        machine.drain()
        for (const id of cancelled) expect(machine.records.get(id)?.status).toBe('cancelled')
      }),
      { numRuns: 300 },
    )
  })

  it('reach a whole attached tree with a tree cancel, and nothing detached from it', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), fc.nat(9), (commands, at) => {
        const machine = new ThreadMachine(true)
        for (const given of commands) obey(machine, given)
        const ids = liveIds(machine)
        const root = ids[at % Math.max(1, ids.length)]
        if (root === undefined) return
        const expected = ids.filter((id) => isInTree(machine, id, root))
        const reached = machine.cancel({ kind: 'tree', task: root })
        expect([...reached].sort()).toEqual(expected.sort())
        expect(reached[0]).toBe(root)
      }),
      { numRuns: 300 },
    )
  })

  it('refuse a child of a task that has ended or is being cancelled', () => {
    const machine = new ThreadMachine(true)
    const root = machine.spawn(undefined) as TaskId
    machine.cancel({ kind: 'task', task: root })
    expect(machine.spawn(root)).toBeUndefined()
    machine.end(root, { status: 'completed' })
    expect(machine.spawn(root)).toBeUndefined()
    expect(machine.records.size).toBe(1)
  })
})

/** By the definition: attached all the way up to the root, through live tasks. */
function isInTree(machine: ThreadMachine, id: TaskId, root: TaskId): boolean {
  if (id === root) return true
  const record = machine.live.task(id)
  if (!record || record.detached || record.parent?.task === undefined) return false
  return machine.live.task(record.parent.task) !== undefined && isInTree(machine, record.parent.task, root)
}
