import type { TaskError } from './errors.ts'
import type { HookRecord } from './hook.ts'
import { type JsonText, type TaskId, type ThreadId, type ThreadKey, threadOf } from './id.ts'
import type { ParentContext } from './lineage.ts'
import { isTerminal, type Status, type TerminalStatus } from './status.ts'

/** What a request gave the agent to work on. A `wake` is made by the runtime from results nobody took. */
export type Asked = 'prompt' | 'parts' | 'input' | 'wake' | 'nothing'

/** What the end of a detached task does once the run it was spawned under has ended. */
export type OnResult = 'collect' | 'wake'

/** What a task used, counted by the agent: numbers by names of its own, such as tokens. */
export type Usage = Readonly<Record<string, number>>

/** Who cancelled, and why if they said so. */
export interface CancelReason {
  readonly by: string
  readonly reason?: string
}

/**
 * A task as the store keeps it: a fold of its events, written in the same commit. `seq`, `firstSeq` and the
 * instants are filled in by the store, which alone knows the numbers and the clock of a commit.
 */
export interface TaskRecord {
  readonly id: TaskId
  readonly key: ThreadKey
  readonly type: string
  readonly agent?: string
  /** The agent's stated version when the task first started. */
  readonly version?: string
  readonly name?: string
  readonly description: string
  readonly status: Status
  readonly parent?: ParentContext
  readonly detached?: true
  readonly progress?: number
  readonly usage?: Usage
  readonly asked: Asked
  readonly input?: JsonText
  readonly result?: JsonText
  readonly error?: TaskError
  readonly partial?: true
  /** Of an ended task: the first messages that it never read. What came after them it did not read either. */
  readonly unread?: readonly string[]
  readonly attempt: number
  readonly epoch: number
  /** How many tasks are above it in its tree. */
  readonly depth: number
  /** Has an inbox: runs, and tasks of type `agent`. */
  readonly inbox: boolean
  /** A pending task that may start now. Kept under the thread's lock, so that a claim searches nothing. */
  readonly ready: boolean
  /** Place of acceptance in the thread; pending runs start in this order. */
  readonly place: number
  /** Place of its end in the thread; ends and messages are read in this order. */
  readonly endPlace?: number
  /** The node whose lease covers this task. */
  readonly node?: string
  /** Its code is a function in the memory of `node`; nothing else can run it. */
  readonly closure?: true
  /** Crashes in a row without a newly recorded step. */
  readonly crashes: number
  readonly timeoutMs?: number
  /** How long its questions have waited by now: that is none of its `timeoutMs`. */
  readonly waitedMs?: number
  /** Since when at least one of its questions waits. Both are by the store's clock, and only where there is a `timeoutMs`. */
  readonly waitingSince?: number
  readonly onResult?: OnResult
  /** Set on a detached task whose end wakes the thread: the agent of the run to start. */
  readonly wake?: string
  /** The run that asked for the wake. */
  readonly wakeRun?: TaskId
  /** The step of the parent that spawned it. */
  readonly stepKey?: string
  /** The id of the steering message that this run grew from. */
  readonly steered?: string
  /** Its result was taken: by a parent's wait or receive, a wake, or collect. */
  readonly taken: boolean
  /** What is owed to `onEnded`. Units have it apart from the record, which never writes it. */
  readonly hook?: HookRecord
  readonly metadata?: JsonText
  /** The trace that asked for it, as W3C Trace Context writes it. Its children have it as well. */
  readonly traceparent?: string
  readonly cancelRequestedAt?: number
  /** Kept for the error it ends with. Not of one that is cancelled with its parent. */
  readonly cancelReason?: CancelReason
  readonly createdAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  readonly firstSeq: number
  /** The last number of the unit that started it: the conversation up to here is what it sees. */
  readonly startedSeq?: number
  readonly seq: number
}

/** A task to be shown, to nobody who decides by it: what it was given and what it returned may be left out for their size. */
export interface ShownRecord extends TaskRecord {
  readonly inputOmitted?: true
  readonly resultOmitted?: true
}

/** A task as people and programs see it. */
export interface Task {
  readonly id: TaskId
  readonly thread: ThreadId
  readonly seq: number
  readonly type: string
  readonly agent?: string
  readonly name?: string
  readonly description: string
  readonly status: Status
  readonly position?: number
  readonly parent?: ParentContext
  readonly detached?: true
  readonly progress?: number
  readonly usage?: Usage
  readonly input?: unknown
  readonly result?: unknown
  /** In a snapshot: it is there, but the tasks that ended later had taken what there is room for. The task by itself has it. */
  readonly inputOmitted?: true
  /** As `inputOmitted`. */
  readonly resultOmitted?: true
  readonly error?: TaskError
  readonly partial?: true
  /** Of an ended task: the ids of the first messages that it never read. What came after them it did not read either. */
  readonly unread?: readonly string[]
  readonly attempt: number
  readonly epoch: number
  readonly cancelRequestedAt?: number
  readonly createdAt: number
  readonly startedAt?: number
  readonly completedAt?: number
  /** Of an ended task: the calls of `onEnded` that failed, while another is owed or when it was given up. */
  readonly hook?: HookRecord
  readonly metadata?: unknown
}

export function toTask(record: ShownRecord, position?: number): Task {
  return {
    id: record.id,
    thread: threadOf(record.key),
    seq: record.seq,
    type: record.type,
    ...(record.agent !== undefined && { agent: record.agent }),
    ...(record.name !== undefined && { name: record.name }),
    description: record.description,
    status: record.status,
    ...(position !== undefined && { position }),
    ...(record.parent && { parent: record.parent }),
    ...(record.detached && { detached: true }),
    ...(record.progress !== undefined && { progress: record.progress }),
    ...(record.usage && { usage: record.usage }),
    ...(record.input !== undefined && { input: JSON.parse(record.input) as unknown }),
    ...(record.result !== undefined && { result: JSON.parse(record.result) as unknown }),
    ...(record.inputOmitted && { inputOmitted: true }),
    ...(record.resultOmitted && { resultOmitted: true }),
    ...(record.error && { error: record.error }),
    ...(record.partial && { partial: true }),
    ...(record.unread && { unread: record.unread }),
    attempt: record.attempt,
    epoch: record.epoch,
    ...(record.cancelRequestedAt !== undefined && { cancelRequestedAt: record.cancelRequestedAt }),
    createdAt: record.createdAt,
    ...(record.startedAt !== undefined && { startedAt: record.startedAt }),
    ...(record.completedAt !== undefined && { completedAt: record.completedAt }),
    ...(record.hook && { hook: record.hook }),
    ...(record.metadata !== undefined && { metadata: JSON.parse(record.metadata) as unknown }),
  }
}

/** Sums what was used, field by field. */
export function addUsage(sum: Usage | undefined, more: Usage): Usage {
  const total: Record<string, number> = { ...sum }
  for (const [field, count] of Object.entries(more)) {
    total[field] = (Object.hasOwn(total, field) ? (total[field] ?? 0) : 0) + count
  }
  return total
}

/** As what a task has ended or, once it is being cancelled, can alone end. Whoever comes too late to it is told this. */
export function certainEnd({
  status,
  cancelRequestedAt,
}: Pick<TaskRecord, 'status' | 'cancelRequestedAt'>): TerminalStatus | undefined {
  if (isTerminal(status)) return status
  return cancelRequestedAt === undefined ? undefined : 'cancelled'
}

export function isRun(record: { readonly type: string }): boolean {
  return record.type === 'run'
}

// Long enough to tell tasks apart in a list, short enough for one line of it.
const descriptionLengthMax = 80

/** Given, else the prompt's first line, else the agent's name. */
export function describe(given: string | undefined, prompt: string | undefined, agent: string | undefined): string {
  if (given !== undefined) return given
  const line = prompt?.trimStart().split('\n', 1)[0]?.trimEnd()
  if (line && line.length <= descriptionLengthMax) return line
  if (line) return [...line].slice(0, descriptionLengthMax).join('')
  return agent ?? 'task'
}
