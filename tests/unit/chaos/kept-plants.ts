import { digestOf, type HistoryEntry } from '../../../src/chaos/history/entry.ts'
import type { Event } from '../../../src/index.ts'
import { deletedLines, emptied, type LinePlant, prunedLines } from './forgotten-plants.ts'
import { home, withLog } from './plant.ts'
import { linesOf, soundDraft } from './sound-history.ts'

/** With 10 events kept the log begins at 22; bg_2 was accepted at 10, has 26 to 30, and ended there. */
const keep = 10

/** A thread that was pruned, and a stream of bg_2 that began before that. */
function followed(isGiven: (event: Event) => boolean, change: object = {}): HistoryEntry[] {
  const events = (soundDraft().logs[home] ?? []).filter(isGiven).map((event) => [event.seq, digestOf(event)] as const)
  const stream = { kind: 'stream', thread: home, task: 'bg_2', transport: 'ws', node: 'node0', after: 0 } as const
  return [...prunedLines(keep), { ...stream, events, end: 'end', ...change }]
}

const isOfTask = ({ task }: Event) => task === 'bg_2'

type ThreadLine = Extract<HistoryEntry, { kind: 'thread' }>

function withMessages(change: (messages: ThreadLine['messages']) => ThreadLine['messages']): HistoryEntry[] {
  return prunedLines(keep).map((line) =>
    line.kind === 'thread' && line.thread === home ? { ...line, messages: change(line.messages) } : line,
  )
}

/** The answer is gone, and nobody was shown anything. */
function unanswered(lines: HistoryEntry[]): HistoryEntry[] {
  const isOther = ({ type }: Event) => type !== 'question.answered'
  const kept = lines.map((line) => (line.kind === 'log' ? { ...line, events: line.events.filter(isOther) } : line))
  return kept.filter(({ kind }) => kind !== 'stream')
}

/** A task that was accepted into the emptied thread as number 9, and read after its end. */
function erasedAgain(asked: number, answered: number): HistoryEntry[] {
  const found = { thread: emptied, task: 'bg_21', deletes: { asked, answered } } as const
  return [
    ...deletedLines({ head: 12, first: 13 }),
    { kind: 'accepted', ...found, node: 'node0', seq: 9 },
    { kind: 'ended', ...found, status: 'completed', digest: 'any' },
    { kind: 'read', thread: emptied, head: 12, messages: [['bg_21.user', 'any']], deletes: found.deletes },
  ]
}

/** A task that was told not to be there, in a thread that was deleted before. */
function refusedThere(): HistoryEntry[] {
  const task = { ...soundDraft().tasks.get('bg_4'), id: 'bg_21', thread: 'fleeting', seq: 9 }
  const of = { by: 'alice', op: 'get bg_21', thread: emptied, task: 'bg_21' }
  return [
    ...deletedLines({ head: 9, first: 9 }),
    { kind: 'refused', ...of, status: 404, code: 'not_found' },
    { kind: 'task', thread: emptied, task: task as Extract<HistoryEntry, { kind: 'task' }>['task'] },
  ]
}

/** bg_0, whose ending is pruned, has another one. */
function endedAgain(): HistoryEntry[] {
  const ending = soundDraft().logs[home]?.find(({ task, type }) => task === 'bg_0' && type === 'task.completed')
  return prunedLines(keep).map((line) => {
    if (line.kind === 'task' && line.task.id === 'bg_0') return { ...line, task: { ...line.task, seq: 32 } }
    if (line.kind === 'thread' && line.thread === home) return { ...line, head: 32 }
    const isHome = line.kind === 'log' && line.thread === home && ending
    return isHome ? { ...line, events: [...line.events, { ...ending, seq: 32, at: 2000 }] } : line
  })
}

/** Bugs that deletes and prunes could be taken for. */
export const keptPlants: readonly LinePlant[] = [
  [
    'a hole in the stream of a task whose beginning was pruned',
    /^G3 alice\/t0: 29 came where 28 was due for bg_2/,
    () => followed((event) => isOfTask(event) && event.seq !== 28),
  ],
  [
    'an event of another in the stream of a task whose beginning was pruned',
    /^G3 alice\/t0: 25 came where 26 was due for bg_2/,
    () => followed((event) => isOfTask(event) || event.seq === 25),
  ],
  [
    'a stream that ends before a task whose beginning was pruned',
    /^G4 the stream of bg_2 ended at 26, and the task at 30/,
    () => followed((event) => isOfTask(event) && event.seq <= 26),
  ],
  [
    'a stream over SSE that ends before its task where nothing that follows was pruned',
    /^G4 the stream of bg_2 ended at 26, and the task at 30/,
    () => followed((event) => isOfTask(event) && event.seq <= 26, { transport: 'sse' }),
  ],
  ['a second ending of which the first was pruned', /^G5 bg_0 ended at 17, and has the number 32/, endedAgain],
  [
    'an answer that is lost while its question is kept',
    /^G12 the answer to q0 is lost/,
    () => unanswered(prunedLines(25)),
  ],
  [
    'an answer that is lost while the beginning of its task is kept',
    /^G12 the answer to q77 is lost/,
    () => [...prunedLines(25), { kind: 'settled', thread: home, task: 'bg_2', question: 'q77', digest: 'any' }],
  ],
  ['a task that a delete takes which was over', /^G1 bg_21 was accepted and is lost/, () => erasedAgain(1, 1)],
  [
    'an end that a delete takes which was over',
    /^G2 bg_21 was read as completed and is now gone/,
    () => erasedAgain(1, 1),
  ],
  [
    'a message that a delete takes which was over',
    /^G2 alice\/fleeting: the message bg_21\.user was read and is gone/,
    () => erasedAgain(1, 1),
  ],
  ['a task that is refused as gone and is there', /^G2 bg_21 was refused as not_found, and is there/, refusedThere],
  [
    'a task that is refused as gone before anybody deletes its thread',
    /^G14 get bg_20 of alice was refused as not_found/,
    () => {
      const lines = deletedLines()
      const isRefusal = ({ kind }: HistoryEntry) => kind === 'refused'
      return [...lines.slice(0, 1), ...lines.filter(isRefusal), ...lines.slice(1)]
    },
  ],
  [
    'a message that is there twice where its event was pruned',
    /^G8 alice\/t0: the message bg_3\.user is there 2 times/,
    () => withMessages((messages) => messages.flatMap((each) => (each.id === 'bg_3.user' ? [each, each] : [each]))),
  ],
  [
    'a message that is lost where its event was pruned',
    /^G8 alice\/t0: what was asked of bg_3 is there 0 times/,
    () => withMessages((messages) => messages.filter(({ id }) => id !== 'bg_3.user')),
  ],
  [
    'a run of a message that is in no log, before others',
    /^G10 alice\/t0: bg_3 was started before bg_2/,
    () => {
      const isOther = (event: Event) => event.type !== 'inbox.accepted' || event.data.id !== 'm1'
      const draft = withLog((log) => log.filter(isOther))
      const entries = draft.entries.filter((entry) => entry.kind !== 'accepted' || entry.steered === undefined)
      return linesOf({ ...draft, entries })
    },
  ],
]

/** What deletes and prunes do, and nobody may complain of. */
export const keptSound: readonly (readonly [title: string, lines: () => HistoryEntry[]])[] = [
  ['a task that went with a delete that had no answer when it was accepted', () => erasedAgain(1, 0)],
  ['a task that went with a delete that was asked for later', () => erasedAgain(0, 0)],
  ['a stream of a task whose beginning was pruned', () => followed(isOfTask, { ending: 30 })],
  [
    'a stream over SSE that ends because what follows was pruned',
    () => followed((event) => isOfTask(event) && event.seq < 26, { transport: 'sse' }),
  ],
  ['an answer that was pruned with its task', () => unanswered(prunedLines(keep))],
]
