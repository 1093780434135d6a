import type { Event, Task } from '../../../src/index.ts'
import { doubled, home, isOf, moved, type Plant, withEntries, withLog, without, withTask } from './plant.ts'
import { type Draft, renumbered, soundDraft } from './sound-history.ts'

/** bg_0 was given up because processes died of it, at which these faults were injected. */
export function givenUp(...faults: readonly string[]): Draft {
  const error = { code: 'poisoned', message: 'The process died 3 times in a row' }
  const draft = soundDraft()
  const { result: _, ...task } = draft.tasks.get('bg_0') as Task
  draft.tasks.set('bg_0', { ...task, status: 'failed', error } as Task)
  const log = (draft.logs[home] ?? []).map((event) =>
    isOf(event, 'bg_0', 'task.completed') ? ({ ...event, type: 'task.failed', data: { error } } as Event) : event,
  )
  const given = renumbered(draft, log)
  const injected = faults.map((fault) => ({ kind: 'fault', fault, node: 'node0', at: 1020 }) as const)
  return { ...given, entries: [...given.entries, ...injected] }
}

/** Bugs in what tasks do, and in what becomes of them. */
export const taskPlants: readonly Plant[] = [
  [
    'a dropped follow-up',
    /^G12 m1 steered bg_0, was read 0 times and became 0 runs/,
    () => without(soundDraft(), 'bg_3'),
  ],
  [
    'a lost message',
    /^G12 the message m0 to bg_0 is lost/,
    () => withLog((log) => log.filter((event) => event.type !== 'inbox.accepted' || event.data.id !== 'm0')),
  ],
  [
    'a message that was read twice',
    /^G12 bg_0 did not read its messages once/,
    () =>
      withLog((log) =>
        log.flatMap((event) => (event.type === 'custom' && event.data.name === 'received' ? [event, event] : [event])),
      ),
  ],
  [
    'a message that nobody read and nobody is told of',
    /^G12 bg_0 ended without m0, and nobody is told/,
    () => withLog((log) => log.filter((event) => event.type !== 'custom' || event.data.name !== 'received')),
  ],
  [
    'a leaked owner',
    /^G15 bob asked for GET \/v1\/tasks\/bg_0 of another and was answered 200/,
    () => withEntries((entry) => [entry.kind === 'probe' ? { ...entry, status: 200 } : entry]),
  ],
  [
    'a refusal that tells strangers from nobody',
    /^G15 bob asked/,
    () =>
      withEntries((entry) => [entry.kind === 'probe' ? { ...entry, body: '{"code":"not_found","id":"bg_0"}' } : entry]),
  ],
  [
    'a re-executed step',
    /^G11 bg_0 told of s in attempt 1, and executed it last in 2/,
    () => withEntries((entry) => (entry.kind === 'effect' ? [entry, { ...entry, attempt: 2 }] : [entry])),
  ],
  [
    'a step that was executed twice in one attempt',
    /^G11 bg_0 s was executed twice in one attempt/,
    () => withEntries((entry) => (entry.kind === 'effect' ? [entry, entry] : [entry])),
  ],
  [
    'a step that was told of and never executed',
    /^G11 bg_0 told of s in attempt 1, and executed it last in 0/,
    () => withEntries((entry) => (entry.kind === 'effect' ? [] : [entry])),
  ],
  [
    'a doubled spawn on resume',
    /^G11 bg_0 spawned by op 2 was spawned as bg_1 and bg_9/,
    () => {
      const draft = soundDraft()
      draft.tasks.set('bg_9', { ...(draft.tasks.get('bg_1') as Task), ...doubled })
      return draft
    },
  ],
  [
    'two runs at once',
    /^G10 alice\/t0: bg_3 was started while bg_0 ran/,
    () =>
      withLog((log) =>
        moved(
          log,
          (event) => event.task === 'bg_3' && /accepted|started/.test(event.type),
          (event) => isOf(event, 'bg_0', 'task.completed'),
        ),
      ),
  ],
  [
    'a queue out of order',
    /^G10 alice\/t0: bg_2 was started before bg_4/,
    () =>
      withLog((log) => {
        const order = moved(
          log,
          (event) => event.task === 'bg_4' && event.type === 'task.accepted',
          (event) => isOf(event, 'bg_2', 'task.accepted'),
        )
        return moved(
          order,
          (event) => event.task === 'bg_2' && event.type !== 'task.accepted',
          (event) => event.type === 'message.created' && event.data.message.id === 'bg_4.user',
        )
      }),
  ],
  [
    'a write of a zombie',
    /^G6 bg_0: an old epoch wrote/,
    () =>
      withLog((log) =>
        moved(
          log,
          (event) => isOf(event, 'bg_0', 'text.delta'),
          (event) => isOf(event, 'bg_0', 'question.answered'),
        ),
      ),
  ],
  [
    'two attempts under one epoch',
    /^G6 bg_0: two attempts have the epoch 1/,
    () => withLog((log) => log.map((event) => (isOf(event, 'bg_0', 'task.resumed') ? { ...event, epoch: 1 } : event))),
  ],
  [
    'a key that made two tasks',
    /^G1 the key k2 made bg_2 and bg_9/,
    () => {
      const draft = soundDraft()
      draft.tasks.set('bg_9', { ...(draft.tasks.get('bg_2') as Task), ...doubled })
      return draft
    },
  ],
  [
    'a key that was acknowledged and accepted anew',
    /^G1 the key k2 was acknowledged, and accepted anew/,
    () =>
      withEntries((entry) => [
        entry.kind === 'accepted' && entry.repeat ? { ...entry, repeat: { isTold: false } } : entry,
      ]),
  ],
  [
    'an answer that was acknowledged and is lost',
    /^G12 the answer to q0 is lost/,
    () => withLog((log) => log.filter(({ type }) => type !== 'question.answered')),
  ],
  [
    'a question that was asked twice',
    /^G11 bg_0 asked twice: go on\?, go on\?/,
    () => withLog((log) => log.flatMap((event) => (isOf(event, 'bg_0', 'question.asked') ? [event, event] : [event]))),
  ],
  [
    'a result that was taken twice',
    /^G12 the result of bg_1 was taken twice/,
    () => withEntries((entry) => (entry.kind === 'collected' ? [entry, entry] : [entry])),
  ],
  [
    'an ended task that has changed',
    /^G2 bg_0 was read as completed and is now completed, or other/,
    () => withTask('bg_0', () => ({ description: 'another' })),
  ],
  [
    'a task that outlives its parent',
    /^G13 bg_1 outlived its parent bg_0 and is completed/,
    () => {
      const draft = soundDraft()
      const { detached: _, ...attached } = draft.tasks.get('bg_1') as Task
      draft.tasks.set('bg_1', attached)
      return draft
    },
  ],
  [
    'a drain that fails',
    /^G17 node1 drained and exited with 1/,
    () => withEntries((entry) => [entry.kind === 'drained' ? { ...entry, code: 1 } : entry]),
  ],
  [
    'a task that never ends',
    /^G19 bg_2 has not ended 200 ms after the last fault/,
    () => withEntries((entry) => [entry.kind === 'over' ? { ...entry, live: ['bg_2'] } : entry]),
  ],
  [
    'a node that does not come back',
    /^G19 node1 does not serve/,
    () => withEntries((entry) => (entry.kind === 'served' && entry.node === 'node1' ? [] : [entry])),
  ],
  [
    'a node that comes back late',
    /^G19 node1 served only 32000 ms after the last fault/,
    () =>
      withEntries((entry) => [entry.kind === 'served' && entry.node === 'node1' ? { ...entry, at: 35_000 } : entry]),
  ],
  ['a task that is given up too soon', /^G11 bg_0 failed as poisoned/, () => givenUp('kill')],
  [
    'a refusal for no reason',
    /^G14 run of client0 was refused as internal/,
    () => {
      const draft = soundDraft()
      draft.entries.push({ kind: 'refused', by: 'client0', op: 'run', status: 500, code: 'internal' })
      return draft
    },
  ],
]
