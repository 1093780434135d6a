import type { Event } from '../../../src/index.ts'
import { home, isOf, type Plant, streamed, withEntries, withLog, without, withTask } from './plant.ts'
import { soundDraft } from './sound-history.ts'

/** Bugs in what is acknowledged, numbered and shown. */
export const logPlants: readonly Plant[] = [
  ['an answer before the commit', /^G1 bg_2 was accepted and is lost/, () => without(soundDraft(), 'bg_2')],
  ['a lost cancel', /^G7 bg_2 was cancelled and is completed/, () => withTask('bg_2', () => ({ status: 'completed' }))],
  [
    'a cancel that takes nothing of what runs',
    /^G7 bg_2 was running after its cancel/,
    () =>
      withEntries((entry) => [
        entry.kind === 'cancelled' && entry.task === 'bg_2' ? { ...entry, tasks: [], left: 'running' } : entry,
      ]),
  ],
  [
    'a completion after the cancel',
    /^G7 bg_2 ended as task.completed although cancelled/,
    () =>
      withLog((log) =>
        log.map((event) =>
          isOf(event, 'bg_2', 'task.cancelled') ? { ...event, type: 'task.completed', data: {} } : event,
        ),
      ),
  ],
  [
    'a start after the cancel of what had not started',
    /^G5 bg_4: task.started at \d+ is after its ending/,
    () => withLog((log) => [...log, { ...(log[1] as Event), task: 'bg_4' } as Event]),
  ],
  [
    'an effect of what was never started',
    /^G7 bg_4 s was executed, and its task was never started/,
    () => {
      const draft = soundDraft()
      draft.entries.splice(3, 0, { kind: 'effect', task: 'bg_4', key: 's', attempt: 1 })
      return draft
    },
  ],
  [
    'a doubled ending',
    /^G5 bg_0 has 2 endings/,
    () => withLog((log) => log.flatMap((event) => (isOf(event, 'bg_0', 'task.completed') ? [event, event] : [event]))),
  ],
  [
    'a late write after the ending',
    /^G5 bg_3: text.delta at \d+ is after its ending/,
    () => withLog((log) => [...log, { ...(log[3] as Event), task: 'bg_3' } as Event]),
  ],
  [
    'a hole in the log',
    /^G3 alice\/t0: 6 stands where 5 belongs/,
    () => {
      const draft = soundDraft()
      draft.logs[home] = (draft.logs[home] ?? []).filter(({ seq }) => seq !== 5)
      return draft
    },
  ],
  [
    'time that goes back, as a skewed clock would make it',
    /^G3 alice\/t0: time goes back at 8/,
    () => {
      const draft = soundDraft()
      const [event] = (draft.logs[home] ?? []).slice(7, 8)
      if (event) Object.assign(event, { at: 1 })
      return draft
    },
  ],
  [
    'an off-by-one resume',
    /^G4 alice\/t0: 11 came after 9 where 10 was due/,
    () => streamed((entry) => ({ ...entry, events: entry.events.slice(1) })),
  ],
  [
    'a resume that repeats',
    /^G4 alice\/t0: 9 came after 9 where 10 was due/,
    () => {
      const draft = soundDraft()
      const before = draft.entries.find((entry) => entry.kind === 'stream')
      const last = before?.kind === 'stream' ? before.events.slice(-1) : []
      return {
        ...draft,
        entries: draft.entries.map((entry) =>
          entry.kind === 'stream' && entry.after === 9 ? { ...entry, events: [...last, ...entry.events] } : entry,
        ),
      }
    },
  ],
  [
    'a hole within a connection',
    /^G3 alice\/t0: 13 came after 11 where 12 was due/,
    () => streamed((entry) => ({ ...entry, events: entry.events.filter(([seq]) => seq !== 12) })),
  ],
  [
    'a changed content',
    /^G2 alice\/t0: 12 was shown by node1 and is another/,
    () =>
      streamed((entry) => ({
        ...entry,
        events: entry.events.map(([seq, digest]) => [seq, seq === 12 ? 'other' : digest]),
      })),
  ],
  [
    'an event that was shown and is gone',
    /^G2 alice\/t0: 32 was shown by node1 and is gone/,
    () => streamed((entry) => ({ ...entry, events: [...entry.events, [32, 'gone']] })),
  ],
  [
    'a stream that ends before its task',
    /^G4 the stream of bg_0 ended at/,
    () =>
      withEntries((entry) => [
        entry.kind === 'stream' && entry.task === 'bg_0' ? { ...entry, events: entry.events.slice(0, -1) } : entry,
      ]),
  ],
]
