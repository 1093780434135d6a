import { taskId } from '../../core/id.ts'
import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import type { AttachFrame, DetachFrame, ServerFrame } from '../../protocol/frames.ts'
import type { LogCursor } from '../../runtime/log-cursor.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { StreamPlace, Streams } from '../streams/streams.ts'
import { Attachment, type AttachmentEnd } from './attachment.ts'
import { serverFrames } from './encode-frames.ts'
import { idOf } from './frame-id.ts'
import type { Outbox } from './outbox.ts'

export interface AttachmentsParts {
  /** Of the principal that the connection is of. */
  readonly runtime: Runtime
  readonly principal: string
  readonly streams: Streams
  readonly outbox: Outbox
  send(frame: ServerFrame): void
  refuse(frame: AttachFrame, error: unknown): void
}

/**
 * What one connection is attached to: at most one attachment for each thread and task.
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
    const { runtime, outbox } = this.#parts
    const { id, thread, task, types, after } = frame
    const snapshot = after === undefined ? await runtime.thread(thread) : undefined
    // Encoded before anything is opened or replaced: what cannot be sent then changes nothing.
    const picture = snapshot ? serverFrames(toFrame(frame, snapshot)) : []
    const cursor = await runtime.openLog({
      thread,
      after: after ?? snapshot?.head ?? 0,
      ...(task !== undefined && { task }),
      ...(types !== undefined && { types }),
    })
    const key = keyOf(frame)
    if (!this.#takePlace(key, cursor)) return
    this.#attached.get(key)?.stop()
    this.#parts.send({ type: 'attached', ...idOf(frame), head: snapshot?.head ?? cursor.head })
    outbox.push(picture)
    const onEnd = (end: AttachmentEnd): void => this.#ended(frame, end)
    this.#attached.set(key, new Attachment({ cursor, outbox, id, onEnd }))
  }

  detach(frame: DetachFrame): void {
    this.#remove(keyOf(frame))
  }

  close(): void {
    this.#isClosed = true
    for (const key of [...this.#attached.keys()]) this.#remove(key)
  }

  /** False if the connection has closed meanwhile. What it replaces leaves its place to it. */
  #takePlace(key: string, cursor: LogCursor): boolean {
    try {
      if (this.#isClosed) cursor.close()
      else if (this.#attached.size > 0 && !this.#attached.has(key)) {
        this.#places.push(this.#parts.streams.open(this.#parts.principal))
      }
    } catch (error) {
      cursor.close()
      throw error
    }
    return !this.#isClosed
  }

  #remove(key: string): void {
    this.#attached.get(key)?.stop()
    if (this.#attached.delete(key)) this.#places.pop()?.close()
  }

  #ended(frame: AttachFrame, end: AttachmentEnd): void {
    this.#remove(keyOf(frame))
    const { task } = frame
    if (end.kind === 'failed') return this.#parts.refuse(frame, end.error)
    if (end.kind === 'ended' && task !== undefined) {
      return this.#parts.send({ type: 'end', ...idOf(frame), task: taskId(task) })
    }
    // The thread was deleted. Nobody asked for this detach, so it is told under the id of the attach.
    this.#parts.send({ type: 'detached', ...idOf(frame) })
  }
}

function toFrame(frame: AttachFrame, snapshot: ThreadSnapshot): ServerFrame {
  const { head, first, messages, tasks, live, questions } = snapshot
  return { type: 'snapshot', ...idOf(frame), head, first, messages, tasks, live, questions }
}

/** No id of a thread has a slash in it. */
function keyOf({ thread, task }: { readonly thread: string; readonly task?: string }): string {
  return task === undefined ? thread : `${thread}/${task}`
}
