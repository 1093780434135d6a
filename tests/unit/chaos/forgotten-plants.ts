import type { HistoryEntry } from '../../../src/chaos/history/entry.ts'
import type { Event, Message } from '../../../src/index.ts'
import { home } from './plant.ts'
import { linesOf, soundDraft } from './sound-history.ts'

/** A bug in words, what has to be complained of, and the lines that a server with that bug leaves. */
export type LinePlant = readonly [title: string, complaint: RegExp, plant: () => HistoryEntry[]]

export const emptied = 'alice/fleeting'

/** The sound history, in which a thread was deleted and used again, and whoever came back was told so. */
export function deletedLines(change: Partial<Extract<HistoryEntry, { kind: 'thread' }>> = {}): HistoryEntry[] {
  const lines = linesOf(soundDraft())
  const asked: HistoryEntry[] = [
    { kind: 'accepted', thread: emptied, task: 'bg_20', node: 'node0', seq: 1 },
    { kind: 'deleting', thread: emptied },
    { kind: 'deleted', thread: emptied, head: 6 },
    { kind: 'refused', by: 'alice', op: 'get bg_20', thread: emptied, status: 404, code: 'not_found' },
    { kind: 'refused', ...late, status: 410, code: 'offset_gone', after: 3, first: 9 },
  ]
  const left: HistoryEntry[] = [
    { kind: 'thread', thread: emptied, head: 8, first: 9, messages: [], untaken: [], ...change },
  ]
  return [...lines.slice(0, 2), ...asked, ...lines.slice(2), ...left]
}

const late = { by: 'alice', op: 'stream after 3', thread: emptied } as const

/** The sound history, whose thread was pruned to its newest events: what was shown of the others was shown. */
export function prunedLines(keep: number, left = keep): HistoryEntry[] {
  const draft = soundDraft()
  const log = draft.logs[home] ?? []
  const first = log.length - left + 1
  const lines = linesOf(draft).map((line): HistoryEntry => {
    if (line.kind === 'thread' && line.thread === home) return { ...line, first }
    return line.kind === 'log' && line.thread === home ? { ...line, events: log.slice(first - 1) } : line
  })
  const asked: HistoryEntry[] = [
    { kind: 'pruning', principal: 'alice', keep },
    { kind: 'pruned', principal: 'alice', keep, events: first - 1 },
  ]
  return [...lines.slice(0, 2), ...asked, ...lines.slice(2)]
}

const withEntry = (entry: HistoryEntry) => {
  const [round, ...lines] = linesOf(soundDraft())
  return round ? [round, entry, ...lines] : []
}

/** Bugs in what is removed, and in what is refused. */
export const forgottenPlants: readonly LinePlant[] = [
  [
    'a log that lost its beginning',
    /^G2 alice\/t0: what is before 22 is gone, and nobody asked for that/,
    () => prunedLines(10).filter(({ kind }) => kind !== 'pruning' && kind !== 'pruned'),
  ],
  ['a prune that took too much', /^G2 alice\/t0: 5 events are left where 10 were to be kept/, () => prunedLines(10, 5)],
  [
    'a hole in what a prune left',
    /^G3 alice\/t0: 24 stands where 23 belongs/,
    () =>
      prunedLines(10).map((line) =>
        line.kind === 'log' ? { ...line, events: line.events.filter(({ seq }: Event) => seq !== 23) } : line,
      ),
  ],
  [
    'a prune of a result that waits',
    /^G12 the log of bg_1 was pruned, and its result waits/,
    () => prunedLines(10).map((line) => (line.kind === 'thread' ? { ...line, untaken: ['bg_1'] } : line)),
  ],
  [
    'a deleted thread that keeps its events',
    /^G2 alice\/fleeting was deleted, and 1 is still in its log/,
    () => deletedLines({ first: 1, head: 0 }),
  ],
  [
    'a deleted thread that keeps a message',
    /^G2 alice\/fleeting was deleted, and its message m is there/,
    () => deletedLines({ messages: [{ id: 'm', seq: 2, role: 'user', parts: [] } as unknown as Message] }),
  ],
  [
    'a task that is lost after its thread was deleted',
    /^G1 bg_21 was accepted and is lost/,
    () => [...deletedLines(), { kind: 'accepted', thread: emptied, task: 'bg_21', node: 'node0', seq: 9 }],
  ],
  [
    'a start that is refused as gone and is not',
    /^G4 alice\/t0: after 3 was refused as gone, where 1 is the first that is kept/,
    () => withEntry({ kind: 'refused', ...late, thread: home, status: 410, code: 'offset_gone', after: 3, first: 9 }),
  ],
  [
    'a task that is gone from a thread that was not deleted',
    /^G14 get bg_0 of alice was refused as not_found/,
    () => withEntry({ kind: 'refused', by: 'alice', op: 'get bg_0', thread: home, status: 404, code: 'not_found' }),
  ],
  [
    'a hostile request that is answered from 500 on',
    /^G14 node0 answered a hostile request \(json\)/,
    () => withEntry({ kind: 'hurt', node: 'node0', what: 'json', sent: '{', got: 'HTTP/1.1 500' }),
  ],
  [
    'idle streams that cost too much',
    /^G16 node0 holds 500 MB where 400 are allowed with 10000 idle streams/,
    () => withEntry({ kind: 'memory', node: 'node0', idle: 10_000, bytes: 500_000_000, bytesMax: 400_000_000 }),
  ],
]
