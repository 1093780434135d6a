import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import { type Principal, type TaskId, type ThreadKey, taskNumber, threadId, threadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { mergeLineage } from '../core/lineage.ts'
import { type RestoredTask, restore } from '../core/restore.ts'
import type { Task } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { encode } from './encode.ts'
import { intent } from './entry.ts'
import { inTime } from './in-time.ts'
import type { PersistedTask } from './persisted-task.ts'
import type { Writer } from './writer.ts'

export interface RestorationParts {
  readonly store: Store
  readonly writer: Writer
  readonly limits: Limits
  /** Throws if new work is not accepted now. */
  checkOpen(): void
  /** Makes sure that no new task gets one of these ids. */
  reserveIds(ids: readonly TaskId[]): void
}

/** Which tasks were put back, and which were there already and were left as they are. */
export interface RestoreAnswer {
  /** Put back, with their endings. */
  readonly restored: readonly TaskId[]
  /** Left alone: a task of this id is in the store, and what the store says of it stands. */
  readonly kept: readonly TaskId[]
}

// A unit is committed whole and holds the thread meanwhile, so a long history goes in by pieces of this size. One task with a large
// result is a piece that a store can still take: it took it when the task ended.
const pieceTasksMax = 64
const pieceLengthMax = 1_048_576

/**
 * Puts tasks of a snapshot back into the store.
 *
 * O1 A task that the store has, live or ended, whoever owns it, is never written to.
 * O2 A piece that fails leaves nothing of itself. What went before stands, and restoring again does the rest.
 */
export class Restoration {
  readonly #parts: RestorationParts

  constructor(parts: RestorationParts) {
    this.#parts = parts
  }

  async restore(principal: Principal, tasks: readonly PersistedTask[]): Promise<RestoreAnswer> {
    this.#parts.checkOpen()
    const ordered = tasks.toSorted(byAcceptance)
    const threads = Map.groupBy(ordered, (task) => threadKey(principal, threadId(task.thread)))
    // All of them are checked before the first is written.
    const checked = [...threads].map(([key, given]) => [key, given.map((task) => this.#checked(task))] as const)
    const restored: TaskId[] = []
    for (const [key, given] of checked) {
      for (const piece of piecesOf(given)) restored.push(...(await this.#piece(key, piece)))
    }
    const isRestored = new Set(restored)
    return { restored, kept: ordered.map((task) => task.id).filter((id) => !isRestored.has(id)) }
  }

  /** Tries again while somebody else brings one of the ids in between; each time fewer are missing. */
  async #piece(key: ThreadKey, tasks: readonly RestoredTask[]): Promise<readonly TaskId[]> {
    for (let missing = await this.#missing(tasks); missing.length > 0; ) {
      try {
        return await this.#commit(key, missing)
      } catch (error) {
        if (isHoldfastError(error)) throw error
        const before = missing.length
        missing = await this.#missing(missing)
        if (missing.length === before) throw error
      }
    }
    return []
  }

  async #commit(key: ThreadKey, tasks: readonly RestoredTask[]): Promise<readonly TaskId[]> {
    const change = this.#parts.writer.change(
      intent(key, 'restore', (live, around) => {
        this.#parts.reserveIds(tasks.map((task) => task.id))
        return restore(live, around, tasks)
      }),
    )
    const done = await inTime(change)
    return 'refusal' in done ? [] : done.value
  }

  async #missing(tasks: readonly RestoredTask[]): Promise<RestoredTask[]> {
    const known = await Promise.all(tasks.map((task) => this.#parts.store.task(task.id)))
    return tasks.filter((_task, i) => known[i] === undefined)
  }

  #checked(task: PersistedTask): RestoredTask {
    checkId(task.id)
    checkIsWhole(task)
    const { limits } = this.#parts
    const { thread: _thread, seq: _seq, position: _position, hook: _hook, ...given } = task
    const { parent: givenParent, input, result, metadata, ...rest } = given
    const parent = mergeLineage(givenParent, undefined)
    const about = `of the restored task ${task.id}`
    const whole = { what: `What is known ${about}`, bytesMax: limits.eventBytes / 2 }
    encode({ ...rest, parent, metadata }, whole)
    return {
      ...rest,
      ...(parent && { parent }),
      ...(input !== undefined && { input: encode(input, { what: `The input ${about}`, bytesMax: limits.bodyBytes }) }),
      ...(result !== undefined && {
        result: encode(result, { what: `The result ${about}`, bytesMax: limits.resultBytes }),
      }),
      ...(metadata !== undefined && { metadata: encode(metadata, whole) }),
    }
  }
}

/** A task of a thread's snapshot may lack what it returned, and would lack it for ever. */
function checkIsWhole(task: Pick<Task, 'id' | 'inputOmitted' | 'resultOmitted'>): void {
  if (!task.inputOmitted && !task.resultOmitted) return
  const message = `The task ${task.id} cannot be restored: its input or result was left out for its size. Take it from snapshotTasks`
  throw new HoldfastError('invalid_request', message)
}

function piecesOf(tasks: readonly RestoredTask[]): RestoredTask[][] {
  const pieces: RestoredTask[][] = []
  let length = 0
  for (const task of tasks) {
    const own = (task.input?.length ?? 0) + (task.result?.length ?? 0)
    const piece = pieces.at(-1)
    if (piece && piece.length < pieceTasksMax && length + own <= pieceLengthMax) {
      piece.push(task)
      length += own
    } else {
      pieces.push([task])
      length = own
    }
  }
  return pieces
}

/** Lists show tasks in the order in which they were stored, so they are stored in the order of their acceptance. */
function byAcceptance(a: PersistedTask, b: PersistedTask): number {
  const number = (id: string) => taskNumber(id) ?? Number.MAX_SAFE_INTEGER
  return a.createdAt - b.createdAt || number(a.id) - number(b.id)
}

/** Any text but what a line of the log cannot hold, or a database cannot keep. */
function checkId(id: string): void {
  if (typeof id === 'string' && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id)) return
  throw new HoldfastError(
    'invalid_request',
    `${JSON.stringify(id)} is no task id: it is 1-200 characters, without control characters and lone surrogates`,
  )
}
