import type { Task } from '../../core/task.ts'
import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import type { Client } from '../client.ts'
import { type ClientClock, systemClock } from '../clock.ts'
import { AgentList, type AgentListValue, loadingAgents } from './agent-list.ts'
import { type EventFilter, EventList, type EventListValue, loadingEvents } from './event-list.ts'
import type { LiveParts } from './live-parts.ts'
import { loadingQuestions, QuestionList, type QuestionListValue } from './question-list.ts'
import { frameSchedule, type Schedule } from './schedule.ts'
import { type Handle, Shared } from './shared.ts'
import { LiveTask, type TaskValue, taskBefore } from './task.ts'
import { loadingTasks, TaskList, type TaskListValue } from './task-list.ts'
import type { TaskFilter } from './task-rows.ts'
import { LiveThread, type ThreadValue, threadBefore } from './thread.ts'
import { loadingThreads, ThreadList, type ThreadListValue } from './thread-list.ts'
import { Watch } from './watch.ts'

export interface LiveOptions {
  readonly clock?: ClientClock
  readonly schedule?: Schedule
  readonly random?: () => number
  readonly pageCount?: number
}

// Fills a screen or two; the rest is read as it is scrolled to.
const pageCountDefault = 100

/** All that is shown of one client, each thing once however often it is shown. */
export class LiveModels {
  readonly #parts: LiveParts
  readonly #taskLists = new Shared<TaskListValue, TaskList>()
  readonly #tasks = new Shared<TaskValue, LiveTask>()
  readonly #threads = new Shared<ThreadValue, LiveThread>()
  readonly #eventLists = new Shared<EventListValue, EventList>()
  readonly #threadLists = new Shared<ThreadListValue, ThreadList>()
  readonly #questionLists = new Shared<QuestionListValue, QuestionList>()
  readonly #agentLists = new Shared<AgentListValue, AgentList>()

  constructor(client: Client, options: LiveOptions = {}) {
    const { clock = systemClock, schedule = frameSchedule(clock), pageCount = pageCountDefault } = options
    const { random = Math.random } = options
    this.#parts = { client, clock, schedule, random, pageCount, watch: new Watch(client) }
  }

  taskList(filter: TaskFilter): Handle<TaskListValue, TaskList> {
    const make = (onStopped: () => void) => new TaskList(this.#parts, filter, onStopped)
    return this.#taskLists.handle(keyOf(filter), loadingTasks, make)
  }

  /** What a page was rendered with says nothing of a task, or a thread, that it goes to later. */
  task(id: string, initial?: Task): Handle<TaskValue, LiveTask> {
    const own = initial?.id === id ? initial : undefined
    const make = (onStopped: () => void) => new LiveTask(this.#parts, id, own, onStopped)
    return this.#tasks.handle(id, taskBefore(own), make)
  }

  thread(thread: string, initial?: ThreadSnapshot): Handle<ThreadValue, LiveThread> {
    const own = initial?.thread === thread ? initial : undefined
    const make = (onStopped: () => void) => new LiveThread(this.#parts, thread, own, onStopped)
    return this.#threads.handle(thread, threadBefore(own), make)
  }

  eventList(thread: string, filter: EventFilter): Handle<EventListValue, EventList> {
    const make = (onStopped: () => void) => new EventList(this.#parts, thread, filter, onStopped)
    return this.#eventLists.handle(keyOf(thread, filter), loadingEvents, make)
  }

  threadList(): Handle<ThreadListValue, ThreadList> {
    return this.#threadLists.handle('', loadingThreads, (onStopped) => new ThreadList(this.#parts, onStopped))
  }

  questionList(thread?: string): Handle<QuestionListValue, QuestionList> {
    const make = (onStopped: () => void) => new QuestionList(this.#parts, thread, onStopped)
    return this.#questionLists.handle(thread ?? '', loadingQuestions, make)
  }

  agentList(): Handle<AgentListValue, AgentList> {
    return this.#agentLists.handle('', loadingAgents, (onStopped) => new AgentList(this.#parts, onStopped))
  }
}

/** The same text for whatever asks for the same. */
function keyOf(...given: readonly unknown[]): string {
  return JSON.stringify(given, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
