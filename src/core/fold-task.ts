import type { Event, EventData } from './event.ts'
import type { TerminalStatus } from './status.ts'
import { addUsage, type Task, type Usage } from './task.ts'

/**
 * A task as its events tell it: folding them in the order of their numbers, from `task.accepted` on, comes to the
 * record that the store keeps. Events of other tasks, and those whose number the task has passed, change nothing; of
 * a type that is not known only the number counts.
 *
 * F1 What a `task.resumed` abandons no longer counts for progress and usage, so what was reported is remembered with
 *    the task. A copy of a folded task, or one that was read, has nothing to remember: what it says is taken to stand.
 * F2 Not in a task's events, so not in the fold: `position`, which the ends of other runs change; an input or a result
 *    that was left out for its size; the epoch of a takeover before the resume, or the end, that follows it; the `hook`.
 */
export function foldTask(task: Task | undefined, event: Event): Task | undefined {
  if (task === undefined) return event.type === 'task.accepted' ? event.data.task : undefined
  if (event.task !== task.id || event.seq <= task.seq) return task
  const { seq, epoch = task.epoch } = event
  const next: Task = { ...changed(task, event), seq, epoch }
  const report = reportAfter(task, event)
  if (report) reports.set(next, report)
  return next
}

function changed(task: Task, event: Event): Task {
  switch (event.type) {
    case 'task.started':
      return { ...placeless(task), status: 'running', attempt: event.data.attempt, startedAt: event.at }
    case 'task.resumed':
      return { ...resumed(task, event.data), attempt: event.data.attempt }
    case 'task.cancelling':
      return { ...task, cancelRequestedAt: event.at }
    case 'task.completed': {
      const { result } = event.data
      return { ...ended(task, 'completed', event), progress: 1, ...(result !== undefined && { result }) }
    }
    case 'task.failed':
      return failed(task, 'failed', event)
    case 'task.cancelled':
      return failed(task, 'cancelled', event)
    case 'progress':
      return { ...task, progress: event.data.value }
    case 'usage':
      return { ...task, usage: addUsage(task.usage, event.data) }
    default:
      return task
  }
}

type Ending = Extract<Event, { type: 'task.completed' | 'task.failed' | 'task.cancelled' }>

function ended(task: Task, status: TerminalStatus, { at, data }: Ending): Task {
  const { completedAt = at, unread } = data
  return { ...placeless(task), status, completedAt, ...(unread && { unread }) }
}

function failed(task: Task, status: TerminalStatus, event: Exclude<Ending, { type: 'task.completed' }>): Task {
  const { error, partial } = event.data
  return { ...ended(task, status, event), error, ...(partial && { partial }) }
}

function placeless(task: Task): Task {
  const { position: _left, ...rest } = task
  return rest
}

/** Something that a task reported, with what it reported before. */
interface Report {
  readonly seq: number
  readonly progress?: number | undefined
  readonly usage?: Usage | undefined
  readonly before?: Report | undefined
}

const reports = new WeakMap<Task, Report>()

/** What the task has reported so far. What was not folded here counts as reported before all that was. */
function reportOf(task: Task): Report | undefined {
  const { progress, usage } = task
  const isSilent = progress === undefined && usage === undefined
  return reports.get(task) ?? (isSilent ? undefined : { seq: 0, progress, usage })
}

function reportAfter(task: Task, event: Event): Report | undefined {
  const before = reportOf(task)
  if (event.type === 'progress') return { seq: event.seq, progress: event.data.value, before }
  if (event.type === 'usage') return { seq: event.seq, usage: event.data, before }
  return event.type === 'task.resumed' ? standing(before, event.data) : before
}

type Resumed = EventData['task.resumed']

function standing(last: Report | undefined, resume: Resumed): Report | undefined {
  const kept = [...history(last)].filter(({ seq }) => counts(seq, resume))
  return kept.reduceRight<Report | undefined>((before, report) => ({ ...report, before }), undefined)
}

/** Newest first. */
function* history(last: Report | undefined): Generator<Report> {
  for (let report = last; report; report = report.before) yield report
}

function counts(seq: number, { keep, dropped = [] }: Resumed): boolean {
  return seq <= keep && !dropped.some(([first, last]) => first <= seq && seq <= last)
}

function resumed(task: Task, resume: Resumed): Task {
  const { progress: _progress, usage: _usage, ...rest } = task
  const kept = [...history(standing(reportOf(task), resume))]
  const progress = kept.find((report) => report.progress !== undefined)?.progress
  const usage = kept.reduceRight<Usage | undefined>(
    (sum, { usage: more }) => (more ? addUsage(sum, more) : sum),
    undefined,
  )
  return { ...rest, ...(progress !== undefined && { progress }), ...(usage && { usage }) }
}
