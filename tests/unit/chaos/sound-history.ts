import { digestOf, type HistoryEntry } from '../../../src/chaos/history/entry.ts'
import { isTerminalEvent } from '../../../src/core/event.ts'
import type { Event, Message, Task } from '../../../src/index.ts'

/** A history in the making. Every part of it can be changed before it is put together. */
export interface Draft {
  /** By thread. */
  logs: Record<string, Event[]>
  tasks: Map<string, Task>
  entries: HistoryEntry[]
  untaken: string[]
}

const home = 'alice/t0'

interface EventGiven {
  readonly task: string
  readonly type: string
  readonly epoch?: number
  readonly data?: unknown
}

/**
 * What a few clients saw of one thread on two nodes: bg_0 was resumed on another node, spawned bg_1, read a message and
 * was steered; bg_3 grew from that and went before bg_2, which was cancelled at work; bg_4 was cancelled in the queue.
 */
export function soundDraft(): Draft {
  const tasks = new Map(taskList().map((task) => [task.id as string, task]))
  const events = eventList().map(
    (given, index) => ({ thread: 't0', seq: index + 1, at: 1000 + index, data: {}, ...given }) as unknown as Event,
  )
  for (const task of tasks.values()) {
    const last = events.findLast((event) => event.task === task.id)?.seq ?? 0
    tasks.set(task.id, { ...task, seq: last })
  }
  return { logs: { [home]: events, 'bob/t0': [] }, tasks, entries: entryList(events, tasks), untaken: [] }
}

/** The lines of a draft, with what is read at the end. */
export function linesOf({ logs, tasks, entries, untaken }: Draft): HistoryEntry[] {
  const finals = Object.entries(logs).flatMap(([thread, events]): HistoryEntry[] => [
    { kind: 'log', thread, node: 'node0', events },
    {
      kind: 'thread',
      thread,
      head: events.length,
      first: 1,
      messages: messagesIn(events),
      untaken: thread === home ? untaken : [],
    },
  ])
  const records = [...tasks.values()].map((task): HistoryEntry => ({ kind: 'task', thread: home, task }))
  return [...entries, ...finals, ...records]
}

/** The same log numbered anew, and whoever read it has read it so. */
export function renumbered(draft: Draft, events: readonly Event[]): Draft {
  const log = events.map((event, index) => ({ ...event, seq: index + 1, at: 1000 + index }))
  const tasks = new Map([...draft.tasks].map(([id, task]) => [id, { ...task, seq: lastOf(log, id) }]))
  return { ...draft, logs: { ...draft.logs, [home]: log }, tasks, entries: entryList(log, tasks) }
}

function lastOf(log: readonly Event[], task: string): number {
  return log.findLast((event) => event.task === task)?.seq ?? 0
}

function messagesIn(events: readonly Event[]): Message[] {
  return events.flatMap((event) => (event.type === 'message.created' ? [event.data.message] : []))
}

const script = [{ say: 'one;' }, { step: 's', effect: 'http://127.0.0.1/' }, { spawn: { script: [] } }, { receive: {} }]
const childScript = [{ think: 'spawned by op 2' }]

function taskList(): Task[] {
  const run = { thread: 't0', seq: 0, type: 'run', agent: 'script', description: 'script', attempt: 1, epoch: 1 }
  const ended = { createdAt: 1000, startedAt: 1001, completedAt: 2000 }
  const cancelled = { status: 'cancelled', error: { code: 'cancelled', message: 'The task was cancelled' } }
  const { startedAt: _, ...unstarted } = ended
  return [
    {
      ...run,
      id: 'bg_0',
      ...ended,
      status: 'completed',
      attempt: 2,
      epoch: 2,
      input: { script },
      metadata: { key: 'k0' },
      result: 1,
    },
    {
      ...run,
      id: 'bg_1',
      ...ended,
      type: 'agent',
      status: 'completed',
      parent: { task: 'bg_0' },
      detached: true,
      input: { script: childScript },
      result: 2,
    },
    { ...run, id: 'bg_2', ...ended, ...cancelled, input: { script: [{ hang: true }] }, metadata: { key: 'k2' } },
    { ...run, id: 'bg_3', ...ended, status: 'completed', input: 'steer', result: 3 },
    { ...run, id: 'bg_4', ...unstarted, ...cancelled, attempt: 0, epoch: 0, input: { script: [{ say: 'x' }] } },
  ] as unknown as Task[]
}

function eventList(): EventGiven[] {
  const accepted = (task: string, more: object = {}) => ({
    task,
    type: 'task.accepted',
    data: { task: { id: task, type: task === 'bg_1' ? 'agent' : 'run' }, ...more },
  })
  const began = (task: string, type: string, epoch: number, node: string, more: object = {}) => ({
    task,
    type,
    epoch,
    data: { attempt: epoch, node, ...more },
  })
  const message = (task: string, role: string) => ({
    task,
    type: 'message.created',
    data: { message: { id: `${task}.${role}`, role, parts: [] } },
  })
  const mail = (id: string, content: unknown) => ({ task: 'bg_0', type: 'inbox.accepted', data: { id, content } })
  const custom = (name: string, payload: object, epoch: number) => ({
    task: 'bg_0',
    type: 'custom',
    epoch,
    data: { name, payload },
  })
  const completed = (task: string, result: number, epoch = 1) => ({
    task,
    type: 'task.completed',
    epoch,
    data: { result },
  })
  const error = { code: 'cancelled', message: 'The task was cancelled' }
  return [
    accepted('bg_0'),
    began('bg_0', 'task.started', 1, 'a'),
    message('bg_0', 'user'),
    { task: 'bg_0', type: 'text.delta', epoch: 1, data: { text: 'one;' } },
    // Steering that grows into a run is read by nobody, whatever came before it.
    mail('m1', 'steer'),
    mail('m0', { token: 1 }),
    custom('step_executed', { key: 's' }, 1),
    accepted('bg_1'),
    { task: 'bg_0', type: 'question.asked', epoch: 1, data: { question: { id: 'q0', text: 'go on?' } } },
    accepted('bg_2'),
    accepted('bg_4'),
    began('bg_0', 'task.resumed', 2, 'b', { keep: 9 }),
    { task: 'bg_0', type: 'question.answered', data: { id: 'q0', answer: 'yes', by: 'alice' } },
    custom('received', { content: { token: 1 } }, 2),
    began('bg_1', 'task.started', 1, 'a'),
    message('bg_0', 'assistant'),
    completed('bg_0', 1, 2),
    accepted('bg_3', { steered: 'm1' }),
    began('bg_3', 'task.started', 1, 'a'),
    message('bg_3', 'user'),
    message('bg_3', 'assistant'),
    completed('bg_3', 3),
    message('bg_4', 'user'),
    message('bg_4', 'assistant'),
    { task: 'bg_4', type: 'task.cancelled', data: { error } },
    began('bg_2', 'task.started', 1, 'b'),
    message('bg_2', 'user'),
    { task: 'bg_2', type: 'task.cancelling', data: { by: 'alice' } },
    message('bg_2', 'assistant'),
    { task: 'bg_2', type: 'task.cancelled', epoch: 1, data: { error } },
    completed('bg_1', 2),
  ]
}

function entryList(log: readonly Event[], tasks: ReadonlyMap<string, Task>): HistoryEntry[] {
  const shown = log.map((event) => [event.seq, digestOf(event)] as const)
  const stream = { kind: 'stream', thread: home, end: 'cut' } as const
  const own = log.filter(({ task }) => task === 'bg_0').map((event) => [event.seq, digestOf(event)] as const)
  const [last] = log.filter((event) => event.task === 'bg_0' && isTerminalEvent(event))
  const ending = last && { ending: last.seq }
  const unknown = '{"code":"not_found"}'
  return [
    { kind: 'round', seed: 1, leaseMs: 1000, nodes: ['node0', 'node1'], principals: ['alice', 'bob'], at: 1000 },
    { kind: 'accepted', thread: home, task: 'bg_0', node: 'node0', key: 'k0' },
    { kind: 'accepted', thread: home, task: 'bg_0', node: 'node1', steered: 'm1' },
    { kind: 'sent', thread: home, task: 'bg_0', id: 'm0', digest: digestOf({ token: 1 }) },
    { kind: 'effect', task: 'bg_0', key: 's', attempt: 1 },
    { kind: 'accepted', thread: home, task: 'bg_2', node: 'node1', key: 'k2' },
    { kind: 'accepted', thread: home, task: 'bg_2', node: 'node0', key: 'k2', repeat: { isTold: true } },
    { kind: 'fault', fault: 'kill', node: 'node0', at: 1010 },
    { kind: 'settled', thread: home, task: 'bg_0', question: 'q0', digest: digestOf('yes') },
    { ...stream, transport: 'sse', node: 'node0', after: 0, events: shown.slice(0, 9) },
    { ...stream, transport: 'ws', node: 'node1', after: 9, events: shown.slice(9) },
    { ...stream, transport: 'sse', node: 'node1', task: 'bg_0', after: 0, events: own, ...ending, end: 'end' },
    { kind: 'cancelled', thread: home, task: 'bg_4', tasks: ['bg_4'] },
    { kind: 'cancelled', thread: home, task: 'bg_2', tasks: ['bg_2'] },
    { kind: 'collecting', thread: home, tasks: ['bg_1'] },
    { kind: 'collected', thread: home, tasks: ['bg_1'] },
    { kind: 'probe', by: 'bob', path: 'GET /v1/tasks/bg_0', status: 404, body: unknown, unknown },
    { kind: 'ended', task: 'bg_0', status: 'completed', digest: digestOf(tasks.get('bg_0')) },
    {
      kind: 'read',
      thread: home,
      head: 3,
      messages: [['bg_0.user', digestOf({ id: 'bg_0.user', role: 'user', parts: [] })]],
    },
    { kind: 'drained', node: 'node1', code: 0, at: 1500 },
    { kind: 'calm', at: 3000 },
    { kind: 'served', node: 'node0', at: 3100 },
    { kind: 'served', node: 'node1', at: 3100 },
    { kind: 'over', at: 3200, live: [] },
  ]
}
