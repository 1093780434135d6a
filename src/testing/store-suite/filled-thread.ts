import { type ThreadKey, taskId, threadOf } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  asking,
  bob,
  bobsHome,
  commit,
  deltas,
  ended,
  event,
  fenced,
  logOf,
  mailTo,
  question,
  refused,
  running,
  step,
  unit,
} from './builders.ts'

export function erasing(rev: number, fields: Partial<Unit> = {}): Unit {
  return unit({ operation: 'erase', rev, erase: true, ...fields })
}

/** Something of every kind in a thread, under ids that begin with `name`. It has 7 events and the revision 1. */
export function filling(thread: ThreadKey, name: string): Unit[] {
  const [child, task] = [`${name}_1`, `${name}_0`]
  const record = running(task, { key: thread, name: 'scout', type: 'run', input: '"asked"', wake: 'echo' })
  const key = { key: `key of ${name}`, digest: 'digest', task: record.id }
  const message = { id: `${name}.user`, role: 'user' as const, parts: '[]', event: 0 }
  return [
    accepting(record, { rev: 0, key }),
    unit({ thread, events: [event('message.created', task)], messages: [message], wakes: 3 }),
    unit({ thread, mail: [mailTo(task, `${name}.mail`)], events: deltas(1, task) }),
    fenced(task, 1, { thread, steps: [step(task, 'a')], events: deltas(3, task), report: { progress: 0.5 } }),
    asking(question(task, `${name}.question`, { key: thread, expiresAt: 1 }), { events: [] }),
    accepting(ended(child, { key: thread, parent: { task: record.id }, stepKey: 'a', result: '"given back"' })),
  ]
}

export async function fill(store: Store, thread: ThreadKey, name: string): Promise<void> {
  await commit(store, ...filling(thread, name))
}

/** All that can be read of a thread that was filled. */
export async function contentOf(store: Store, thread: ThreadKey, name: string): Promise<unknown> {
  const principal = thread === bobsHome ? bob : alice
  const names = [`${name}_0`, `${name}_1`]
  return {
    live: await store.livePart(thread),
    log: await logOf(store, thread),
    messages: (await store.messages(thread, { limit: 100 })).messages,
    snapshot: await store.snapshot(thread, { messages: 100, endedTasks: 100 }),
    tasks: await Promise.all(names.map((id) => store.task(taskId(id)))),
    steps: await Promise.all(names.map((id) => store.steps(taskId(id)))),
    questions: await store.questions({ principal, thread: threadOf(thread) }),
    question: await store.questions({ id: `${name}.question` }),
    listed: (await store.tasks({ principal, thread: threadOf(thread), limit: 100 })).tasks,
    untaken: (await store.tasks({ principal, thread: threadOf(thread), untaken: true, limit: 100 })).tasks,
    children: (await store.tasks({ principal, parent: taskId(`${name}_0`), limit: 100 })).tasks,
    named: (await store.tasks({ principal, name: 'scout', thread: threadOf(thread), limit: 100 })).tasks,
    key: await refused(store, unit({ thread, askKey: `key of ${name}` })),
  }
}
