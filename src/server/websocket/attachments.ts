import { isHoldfastError } from '../../core/errors.ts'
import { taskId } from '../../core/id.ts'
import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import type { AttachFrame, DetachFrame, ServerFrame, WatchFrame } from '../../protocol/frames.ts'
import type { LogCursor } from '../../runtime/log-cursor.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { BatchSource } from '../streams/stream.ts'
import type { StreamPlace, Streams } from '../streams/streams.ts'
import { Attachment, type AttachmentEnd } from './attachment.ts'
import { idOf } from './frame-id.ts'
import type { Outbox } from './outbox.ts'
import type { SharedSnapshots, SnapshotFrame } from './shared-snapshots.ts'

export interface AttachmentsParts {
  /** Of the principal that the connection is of. */
  readonly runtime: Runtime
  readonly principal: string
  readonly streams: Streams
  readonly snapshots: SharedSnapshots
  readonly outbox: Outbox
  send(frame: ServerFrame): void
  refuse(frame: AttachFrame | WatchFrame, error: unknown): void
}

type Follow = AttachFrame | WatchFrame
type Source = BatchSource & { readonly isOver?: boolean }

const allThreads = '*'

/**
 * What one connection is attached to: at most one attachment for each thread and task, and one for all threads.
 *
 * A1 Between the end of one attachment and the first frame of what replaces it nothing is awaited, so that no event of
 *    the old one comes after the new one was announced.
 * A2 A refused attach leaves the one before it as it is.
 */
export class Attachments {
  readonly #parts: AttachmentsParts
  readonly #attached = new Map<string, Attachment>()
  /** One for each attachment but the first, for which the place of the connection stands. */
  readonly #places: StreamPlace[] = []
  #isClosed = false

  constructor(parts: AttachmentsParts) {
    this.#parts = parts
  }

  async attach(frame: AttachFrame): Promise<void> {
    const { after } = frame
    if (after !== undefined) {
      const cursor = await this.#openLog(frame, after)
      return this.#begin(frame, cursor, [{ type: 'attached', ...idOf(frame), head: cursor.head }])
    }
    const snapshot = await this.#parts.runtime.thread(frame.thread)
    // Before the log is opened: whatever fails here leaves nothing that is to be closed.
    const whole = this.#toFrame(frame, snapshot)
    const cursor = await this.#openLog(frame, snapshot.head).catch(unlessGone)
    // The thread was deleted since, and what it has now is told by another snapshot.
    if (!cursor) return this.attach(frame)
    this.#begin(frame, cursor, [{ type: 'attached', ...idOf(frame), head: snapshot.head }, whole])
  }

  async watch(frame: WatchFrame): Promise<void> {
    const { types } = frame
    const source = await this.#parts.runtime.openFirehose(types === undefined ? {} : { types })
    this.#begin(frame, source, [{ type: 'watching', ...idOf(frame) }])
  }

  unwatch(): void {
    this.#remove(allThreads)
  }

  detach(frame: DetachFrame): void {
    this.#remove(keyOf(frame))
  }

  close(): void {
    this.#isClosed = true
    for (const key of [...this.#attached.keys()]) this.#remove(key)
  }

  #openLog({ thread, task, types }: AttachFrame, after: number): Promise<LogCursor> {
    const filter = { ...(task !== undefined && { task }), ...(types !== undefined && { types }) }
    return this.#parts.runtime.openLog({ thread, after, ...filter })
  }

  #begin(frame: Follow, source: Source, first: readonly ServerFrame[]): void {
    const { outbox, send } = this.#parts
    const key = keyOf(frame)
    if (!this.#takePlace(key, source)) return
    this.#attached.get(key)?.stop()
    for (const each of first) send(each)
    const onEnd = (end: AttachmentEnd): void => this.#ended(frame, end)
    this.#attached.set(key, new Attachment({ source, outbox, id: frame.id, onEnd }))
  }

  #toFrame(frame: AttachFrame, snapshot: ThreadSnapshot): SnapshotFrame {
    const { head, first, messages, tasks, live, questions } = snapshot
    const whole = { type: 'snapshot', ...idOf(frame), head, first, messages, tasks, live, questions } as const
    return this.#parts.snapshots.share(this.#parts.principal, frame.thread, whole)
  }

  /** False if the connection has closed meanwhile. What it replaces leaves its place to it. */
  #takePlace(key: string, source: Source): boolean {
    try {
      if (this.#isClosed) source.close()
      else if (this.#attached.size > 0 && !this.#attached.has(key)) {
        this.#places.push(this.#parts.streams.open(this.#parts.principal))
      }
    } catch (error) {
      source.close()
      throw error
    }
    return !this.#isClosed
  }

  #remove(key: string): void {
    this.#attached.get(key)?.stop()
    if (this.#attached.delete(key)) this.#places.pop()?.close()
  }

  #ended(frame: Follow, end: AttachmentEnd): void {
    this.#remove(keyOf(frame))
    const { send, refuse } = this.#parts
    if (end.kind === 'failed') return refuse(frame, end.error)
    // Nobody asked for what follows, so it is told under the id of the frame that began it. The reader was too far behind.
    if (frame.type === 'watch') return send({ type: 'unwatched', ...idOf(frame) })
    const { task } = frame
    if (end.kind === 'ended' && task !== undefined) return send({ type: 'end', ...idOf(frame), task: taskId(task) })
    // The thread was deleted.
    send({ type: 'detached', ...idOf(frame) })
  }
}

/** Undefined if the place is not in the log any more. */
function unlessGone(error: unknown): undefined {
  if (!isHoldfastError(error, 'offset_gone')) throw error
}

/** No id of a thread has a slash in it, nor a star. */
function keyOf(frame: Follow | DetachFrame): string {
  if (frame.type === 'watch') return allThreads
  const { thread, task } = frame
  return task === undefined ? thread : `${thread}/${task}`
}
