import { isTerminalEvent } from '../core/event.ts'
import { foldTask } from '../core/fold-task.ts'
import type { TaskId } from '../core/id.ts'
import type { Message, Part } from '../core/message.ts'
import type { Question } from '../core/question.ts'
import { isTerminal } from '../core/status.ts'
import { isRun, type Task } from '../core/task.ts'
import { isOutput, type Output, outputOf, resumedOutput, withOutput } from './output.ts'
import { tellsAll } from './picture.ts'
import type { AttachItem, SnapshotItem, ThreadEvent } from './thread-event.ts'

/**
 * A thread as a person sees it, folded from a snapshot and events. It is a value: a change makes a new one, and what did not
 * change in it stays the same object.
 *
 * V1 A snapshot and the events after its head come to the same as all events, but for what the snapshot leaves out: older
 *    messages and older ended tasks. Where an event does not tell all (`tellsAll`), they do with the next snapshot.
 * V2 What is not newer changes nothing: events up to `head`, and a copy of a task whose `seq` is lower.
 */
export interface ThreadView {
  /** The number of the last event in it. */
  readonly head: number
  /** The lowest number that is kept of the log. */
  readonly first: number
  readonly messages: readonly Message[]
  /** In the order of their acceptance, as far as it is known. */
  readonly tasks: ReadonlyMap<TaskId, Task>
  /** What each running task has put out so far. */
  readonly live: ReadonlyMap<TaskId, readonly Part[]>
  /** The runs that wait, each with its `position`, in the order in which they start. */
  readonly queue: readonly (Task & { readonly position: number })[]
  /** Those that are open. */
  readonly questions: readonly Question[]
}

/** What changes a view: whatever an attachment gives, or a copy of a task, such as an answer to `run`. */
export type ViewChange = AttachItem | { readonly type: 'task'; readonly task: Task }

/** What is remembered with a view and is nothing to show. A view that was copied is taken for a snapshot. */
interface Memory {
  readonly outputs: ReadonlyMap<TaskId, Output>
  /** Where each pending run stands in the queue. */
  readonly places: ReadonlyMap<TaskId, number>
  /** The numbers of messages to runs: one that nobody reads becomes a run in its place. */
  readonly letters: ReadonlyMap<string, number>
}

const memories = new WeakMap<ThreadView, Memory>()

/** The view of a thread of which nothing is known yet. */
export function createThreadView(): ThreadView {
  return { head: 0, first: 1, messages: [], tasks: new Map(), live: new Map(), queue: [], questions: [] }
}

/** The view after a change; what was given stays as it is. */
export function reduceView(view: ThreadView, change: ViewChange): ThreadView {
  switch (change.type) {
    case 'snapshot':
      return change.head < view.head ? view : pictured(view, change)
    case 'notice':
      // The log is another than it was: the snapshot that comes next counts, whatever its number.
      return { ...view, head: 0 }
    case 'task':
      return merged(view, change.task)
    default:
      return change.seq <= view.head ? view : followed(view, change)
  }
}

/** Without the oldest messages and ended tasks, if there are too many. Everything else goes on as if they were there. */
export function trimView(view: ThreadView, messagesMax: number, endedMax: number): ThreadView {
  const { messages, tasks } = view
  const ended = [...tasks.values()].filter(({ status }) => isTerminal(status))
  if (messages.length <= messagesMax && ended.length <= endedMax) return view
  const rest = new Map(tasks)
  for (const { id } of ended.slice(0, -endedMax)) rest.delete(id)
  return remember({ ...view, messages: messages.slice(-messagesMax), tasks: rest }, memoryOf(view))
}

function pictured(view: ThreadView, { head, first, messages, tasks, live, questions }: SnapshotItem): ThreadView {
  const outputs = live.map(({ task, parts }) => [task, parts] as const)
  const memory = memoryFrom(head, outputs, tasks, memoryOf(view).letters)
  const byId = new Map(tasks.map((task) => [task.id, placeless(task)]))
  const shown = { live: liveOf(memory), queue: queueOf(byId, memory) }
  return remember({ head, first, messages, tasks: byId, questions, ...shown }, memory)
}

function merged(view: ThreadView, task: Task): ThreadView {
  const known = view.tasks.get(task.id)
  if (known && known.seq >= task.seq) return view
  const before = memoryOf(view)
  const place = before.places.get(task.id) ?? task.seq
  const memory = { ...before, places: new Map(before.places).set(task.id, place) }
  const tasks = new Map(view.tasks).set(task.id, placeless(task))
  return remember({ ...view, tasks, queue: queueOf(tasks, memory) }, memory)
}

function followed(view: ThreadView, event: ThreadEvent): ThreadView {
  const before = memoryOf(view)
  const memory: Memory = {
    outputs: outputsAfter(before.outputs, event),
    places: placesAfter(before, event),
    letters: lettersAfter(before.letters, event),
  }
  const tasks = tasksAfter(view.tasks, event)
  const isQueued = [before, memory].some(({ places }) => event.task !== undefined && places.has(event.task))
  const next: ThreadView = {
    ...view,
    head: event.seq,
    messages: event.type === 'message.created' ? [...view.messages, event.data.message] : view.messages,
    tasks,
    live: memory.outputs === before.outputs ? view.live : liveOf(memory),
    queue: isQueued ? queueOf(tasks, memory) : view.queue,
    questions: questionsAfter(view.questions, event),
  }
  return remember(next, memory)
}

function tasksAfter(tasks: ThreadView['tasks'], event: ThreadEvent): ThreadView['tasks'] {
  if (event.task === undefined) return tasks
  const task = tasks.get(event.task)
  const next = foldTask(task, event)
  return next === task || !next ? tasks : new Map(tasks).set(event.task, placeless(next))
}

function questionsAfter(questions: readonly Question[], event: ThreadEvent): readonly Question[] {
  switch (event.type) {
    case 'question.asked':
      return [...questions, event.data.question]
    case 'question.answered':
    case 'question.closed':
      return questions.filter(({ id }) => id !== event.data.id)
    default:
      return questions
  }
}

function outputsAfter(outputs: Memory['outputs'], event: ThreadEvent): Memory['outputs'] {
  const { task } = event
  if (task === undefined) return outputs
  const output = outputs.get(task)
  if (isOutput(event)) return new Map(outputs).set(task, withOutput(output ?? outputOf(), event))
  if (!output) return outputs
  if (event.type === 'task.resumed') return new Map(outputs).set(task, resumedOutput(output, event))
  // Its end is in the log with its message, but a reader may be shown the one before the other. A message that is too large for
  // an event has no parts in it.
  const isSaid = event.type === 'message.created' && event.data.message.role === 'assistant' && tellsAll(event, 0)
  return isSaid || isTerminalEvent(event) ? without(outputs, task) : outputs
}

function placesAfter({ places, letters }: Memory, event: ThreadEvent): Memory['places'] {
  if (event.type === 'task.accepted') {
    const { task, steered = '' } = event.data
    return isRun(task) ? new Map(places).set(task.id, letters.get(steered) ?? event.seq) : places
  }
  const isLeaving = event.type === 'task.started' || isTerminalEvent(event)
  return isLeaving && event.task !== undefined ? without(places, event.task) : places
}

function lettersAfter(letters: Memory['letters'], event: ThreadEvent): Memory['letters'] {
  if (event.type === 'inbox.accepted') return new Map(letters).set(event.data.id, event.seq)
  if (event.type === 'message.created') return without(letters, event.data.message.id)
  if (event.type === 'task.accepted') return without(letters, event.data.steered ?? '')
  return letters
}

function remember(view: ThreadView, memory: Memory): ThreadView {
  memories.set(view, memory)
  return view
}

function memoryOf(view: ThreadView): Memory {
  return memories.get(view) ?? memoryFrom(view.head, view.live, view.queue, new Map())
}

/** Of what a snapshot shows. All that waits in it stands before whatever comes after its head. */
function memoryFrom(
  head: number,
  live: Iterable<readonly [TaskId, readonly Part[]]>,
  tasks: readonly Task[],
  letters: Memory['letters'],
): Memory {
  const places = tasks.flatMap(({ id, position }) =>
    position === undefined ? [] : [[id, head - tasks.length + position] as const],
  )
  const outputs = Array.from(live, ([task, parts]) => [task, outputOf(parts, head)] as const)
  return { outputs: new Map(outputs), places: new Map(places), letters }
}

function liveOf({ outputs }: Memory): ThreadView['live'] {
  return new Map([...outputs].flatMap(([task, { parts }]) => (parts.length > 0 ? [[task, parts] as const] : [])))
}

function queueOf(tasks: ThreadView['tasks'], { places }: Memory): ThreadView['queue'] {
  const waiting = [...places].toSorted(([, a], [, b]) => a - b).flatMap(([id]) => tasks.get(id) ?? [])
  const pending = waiting.filter((task) => task.status === 'pending' && isRun(task))
  return pending.map((task, position) => ({ ...task, position }))
}

function placeless(task: Task): Task {
  if (task.position === undefined) return task
  const { position: _position, ...rest } = task
  return rest
}

function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  if (!map.has(key)) return map
  const rest = new Map(map)
  rest.delete(key)
  return rest
}
