import type { EventDraft } from '../src/core/event.ts'
import { principal, type TaskId, taskId, threadId, threadKey } from '../src/core/id.ts'
import type { TaskRecord } from '../src/core/task.ts'
import type { Unit } from '../src/core/unit.ts'
import type { Store } from '../src/stores/store.ts'
import { payload } from './sqlite-load.ts'

/** What a store is made to hold: the past of an installation, all of it ended. */
export interface Past {
  readonly threadCount: number
  readonly tasksPerThread: number
  readonly eventsPerTask: number
}

const unitsPerCommit = 500
const eventsPerUnit = 500
const owner = principal('owner')

/** Writes a past into an open store, as the runtime would have left it, but in large commits. */
export async function fill(store: Store, past: Past): Promise<void> {
  let units: Unit[] = []
  const flush = async () => {
    const verdicts = await store.commit(units)
    if (!verdicts.every((verdict) => verdict.committed)) throw new Error('a unit of the past was refused')
    units = []
  }
  for (let thread = 0; thread < past.threadCount; thread++) {
    for (let task = 0; task < past.tasksPerThread; task++) {
      const id = taskId(`bg_${thread * past.tasksPerThread + task}`)
      units.push(...unitsOf(thread, task, id, past.eventsPerTask))
      if (units.length >= unitsPerCommit) await flush()
    }
  }
  if (units.length > 0) await flush()
}

function unitsOf(thread: number, rev: number, id: TaskId, eventCount: number): Unit[] {
  const key = threadKey(owner, threadId(`thread-${thread}`))
  const ended: Unit = {
    operation: 'end',
    thread: key,
    rev,
    events: [event(id, 'task.started', { attempt: 1, node: 'node_1' }), event(id, 'task.completed', {})],
    tasks: [{ record: recordOf(id, key, rev), isNew: true, stamps: ['createdAt', 'startedAt', 'completedAt'] }],
  }
  const emits: Unit[] = []
  for (let left = eventCount; left > 0; left -= eventsPerUnit) {
    const events = Array.from({ length: Math.min(left, eventsPerUnit) }, () => event(id, 'custom', payload))
    emits.push({ operation: 'emit', thread: key, events })
  }
  return [ended, ...emits]
}

function event(task: TaskId, type: EventDraft['type'], data: object): EventDraft {
  return { task, type, epoch: 1, data: JSON.stringify(data) }
}

function recordOf(id: TaskId, key: TaskRecord['key'], place: number): TaskRecord {
  return {
    id,
    key,
    type: 'agent',
    agent: 'past',
    description: 'past',
    status: 'completed',
    asked: 'nothing',
    attempt: 1,
    epoch: 1,
    depth: 0,
    inbox: true,
    ready: false,
    place,
    crashes: 0,
    taken: false,
    createdAt: 0,
    firstSeq: 0,
    seq: 0,
  }
}
