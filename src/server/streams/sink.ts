/**
 * Where a stream writes to: Node's response, or a web stream. A WebSocket has its outbox.
 *
 * K1 Whoever was told `false` by `write` writes nothing more before `drained` has resolved, so that what waits in this
 *    process for one reader is bounded.
 * K2 After it closed, for whatever reason, nothing throws and nothing waits: `write` is idle and `drained` resolves.
 */
export interface Sink {
  /** Takes the bytes, which are shared with other sinks and never changed. False: wait for `drained`. */
  write(bytes: Uint8Array): boolean
  /** Resolves when there is room, or when it closed. */
  drained(): Promise<void>
  /** Ends it in the regular way, after what was written. */
  end(): void
  /** Ends it at once; what was not taken is dropped. */
  cut(): void
  /** Calls once when it closed, whoever closed it. One listener at most. */
  onClosed(listener: () => void): void
  readonly isClosed: boolean
  /** The bytes that the reader has yet to take. */
  readonly backlog: number
  /** Whether nothing refers to what was written any more, so that its memory can be used again. */
  readonly isFlushed: boolean
  /** Changes when the reader takes something, and stays while it takes nothing, whatever is written meanwhile. */
  readonly taken: number
}
