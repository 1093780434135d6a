import type { Task } from '../../client/index.ts'
import { age, duration, instant } from '../show/ages.ts'
import { jsonText } from '../show/json-text.ts'
import { shownStatus } from './task-columns.ts'
import { type Circumstances, placeInQueue } from './why.ts'

export type Fact = readonly [name: string, value: string]

/** Everything about a task as names and values, in the order in which a person asks. What it does not have is left out. */
export function taskFacts({ task, now, children, events }: Circumstances): readonly Fact[] {
  const { parent, error, usage } = task
  const last = events.at(-1)
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['id', task.id],
    ['status', shownStatus(task)],
    ['description', task.description],
    ['error', error && `${error.code}: ${error.message}`],
    ['result', json(task.result)],
    ['thread', task.thread],
    ['type', task.detached ? `${task.type}, detached` : task.type],
    ['agent', task.agent],
    ['name', task.name],
    ['parent', parent?.task],
    ['run', parent?.run === parent?.task ? undefined : parent?.run],
    ['tool call', parent?.call],
    ['children', children.length === 0 ? undefined : counted(children)],
    ['position', task.position === undefined ? undefined : placeInQueue(task.position)],
    ['created', `${instant(task.createdAt)} (${age(now - task.createdAt)} ago)`],
    ['started', started(task)],
    ['cancelled', cancelRequested(task, now)],
    ['ended', task.completedAt === undefined ? undefined : instant(task.completedAt)],
    ['ran', task.startedAt === undefined ? undefined : duration((task.completedAt ?? now) - task.startedAt)],
    ['attempt', `${task.attempt} (epoch ${task.epoch})`],
    [
      'usage',
      usage &&
        Object.entries(usage)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
    ],
    ['input', json(task.input)],
    ['metadata', json(task.metadata)],
    ['onEnded', task.hook && hookText(task.hook, now)],
    ['partial', task.partial ? 'it had output when it ended' : undefined],
    ['unread', task.unread && `${task.unread.length} messages that it never read: ${task.unread.join(', ')}`],
    ['last event', last && `${last.seq} ${last.type} (${age(now - last.at)} ago)`],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** The fields of a task under their names on the wire, for a pipe. */
export function taskFields(task: Task): readonly Fact[] {
  return Object.entries(task).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'number' && name.endsWith('At')) return [name, new Date(value).toISOString()]
    return [name, typeof value === 'string' ? value : jsonText(value)]
  })
}

function json(value: unknown): string | undefined {
  return value === undefined ? undefined : jsonText(value)
}

/** What became of the calls that tell the operator's program of the end. */
function hookText({ attempts, error, nextAt }: NonNullable<Task['hook']>, now: number): string {
  if (attempts === 0) return 'to be called'
  const next = nextAt === undefined ? 'given up' : `again in ${age(nextAt - now)}`
  return `failed ${attempts} times, ${next}: ${error ?? 'it did not say why'}`
}

/** Apart from how long it ran: what it waited for its turn. */
function started({ startedAt, createdAt }: Task): string | undefined {
  return startedAt === undefined ? undefined : `${instant(startedAt)} (after ${duration(startedAt - createdAt)})`
}

function cancelRequested({ cancelRequestedAt: at }: Task, now: number): string | undefined {
  return at === undefined ? undefined : `asked for at ${instant(at)} (${age(now - at)} ago)`
}

/** `3 (2 running, 1 completed)`. */
function counted(tasks: readonly Task[]): string {
  const byStatus = Map.groupBy(tasks, ({ status }) => status)
  return `${tasks.length} (${[...byStatus].map(([status, each]) => `${each.length} ${status}`).join(', ')})`
}
