import { isTerminalEvent } from '../../core/event.ts'
import type { FrameId } from '../../protocol/frames.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'
import { entriesOf } from '../../runtime/log-stretch.ts'
import type { BatchSource } from '../streams/stream.ts'
import { eventFrames } from './encode-frames.ts'
import type { Outbox } from './outbox.ts'

/** How the log came to an end for whoever is attached; a stop by hand is none of these. */
export type AttachmentEnd = { readonly kind: 'ended' | 'closed' } | { readonly kind: 'failed'; readonly error: unknown }

export interface AttachmentParts {
  /** A thread's log, or the live events of all threads, which is never over. */
  readonly source: BatchSource & { readonly isOver?: boolean }
  readonly outbox: Outbox
  /** The id of the frame that attached; every event carries it. */
  readonly id: FrameId | undefined
  /** Called at most once, and not after `stop`. */
  onEnd(end: AttachmentEnd): void
}

/**
 * Carries a thread's log, or the live events of all threads, to a connection.
 *
 * T1 After `stop` returns, nothing of it is pushed, though a read may be under way.
 * T2 It asks for the next events only when there is room for them, so that a connection whose reader is slow holds
 *    what waits in its outbox and not also a batch for everything attached to it.
 */
export class Attachment {
  readonly #parts: AttachmentParts
  #isStopped = false

  constructor(parts: AttachmentParts) {
    this.#parts = parts
    void this.#carry()
  }

  stop(): void {
    this.#isStopped = true
    this.#parts.source.close()
  }

  async #carry(): Promise<void> {
    const end = await this.#carried().catch((error: unknown): AttachmentEnd => ({ kind: 'failed', error }))
    if (this.#isStopped) return
    this.stop()
    this.#parts.onEnd(end)
  }

  async #carried(): Promise<AttachmentEnd> {
    const { source, outbox } = this.#parts
    // Nothing can follow: the task ended before the start.
    let hasEnded = source.isOver ?? false
    while (!this.#isStopped && !outbox.isClosed) {
      if (!outbox.hasRoom) await outbox.whenRoom()
      const batch = this.#isStopped ? undefined : await source.next()
      if (!batch) break
      const entries = entriesOf(batch)
      await this.#push(entries)
      const last = entries.at(-1)
      hasEnded = last !== undefined && isTerminalEvent(last)
    }
    return { kind: hasEnded ? 'ended' : 'closed' }
  }

  async #push(entries: readonly LogEntry[]): Promise<void> {
    const { outbox, id } = this.#parts
    if (this.#isStopped) return
    for (const group of eventFrames(entries, id)) {
      await outbox.whenRoom(() => {
        if (!this.#isStopped) outbox.push(group)
      })
    }
  }
}
