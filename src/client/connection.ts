import type { ClientClock } from './clock.ts'

/** Whether a client hears from its server. `since` is when it became so, by the client's clock. */
export type ConnectionState =
  | { readonly state: 'live'; readonly since: number }
  /** `retryInMs` counts from `since`; 0 while a try is under way. */
  | { readonly state: 'reconnecting'; readonly since: number; readonly retryInMs: number }
  | { readonly state: 'offline'; readonly since: number }

/** For whoever shows it: what it is now, and when it changes. The snapshot is the same object until then. */
export interface Connection {
  snapshot(): ConnectionState
  /** Returns what ends it. */
  subscribe(onChange: () => void): () => void
  /** Tries at once what waits to be tried again. */
  retry(): void
}

/** How one of the connections of a client is. */
export type Line =
  | { readonly is: 'connecting'; readonly hasFailed: boolean }
  | { readonly is: 'live' }
  | { readonly is: 'waiting'; readonly ms: number }
  /** Not let in; it is not tried again by itself. */
  | { readonly is: 'refused' }

/**
 * Makes one state of all connections of a client: the worst of them, because what hangs on it is not up to date. Without any,
 * the last request tells.
 */
export class ConnectionMonitor implements Connection {
  readonly retry: () => void
  readonly #clock: ClientClock
  readonly #lines = new Map<object, Line>()
  readonly #listeners = new Set<() => void>()
  #hasNetwork = true
  #wasAnswered = false
  #state: ConnectionState

  constructor(clock: ClientClock, retry: () => void) {
    this.#clock = clock
    this.retry = retry
    this.#state = { state: 'offline', since: clock.now() }
  }

  snapshot(): ConnectionState {
    return this.#state
  }

  subscribe(onChange: () => void): () => void {
    const listener = () => onChange()
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(owner: object, line?: Line): void {
    if (line) this.#lines.set(owner, line)
    else this.#lines.delete(owner)
    this.answered(line?.is === 'live' || this.#wasAnswered)
  }

  /** Whether the last request was. */
  answered(wasAnswered: boolean): void {
    this.#wasAnswered = wasAnswered
    this.#update()
  }

  network(isThere: boolean): void {
    this.#hasNetwork = isThere
    this.#update()
  }

  #update(): void {
    const [state, retryInMs] = this.#computed()
    const now: { readonly state: string; readonly retryInMs?: number } = this.#state
    if (state === now.state && retryInMs === (now.retryInMs ?? 0)) return
    const since = this.#clock.now()
    this.#state = state === 'reconnecting' ? { state, since, retryInMs } : { state, since }
    for (const listener of this.#listeners) listener()
  }

  #computed(): readonly [state: ConnectionState['state'], retryInMs: number] {
    const lines = [...this.#lines.values()]
    const waits = lines.flatMap((line) => (line.is === 'waiting' ? line.ms : []))
    const hasFailed = lines.some((line) => line.is === 'connecting' && line.hasFailed)
    if (!this.#hasNetwork || lines.some((line) => line.is === 'refused')) return ['offline', 0]
    if (waits.length > 0) return ['reconnecting', Math.min(...waits)]
    if (!hasFailed && this.#wasAnswered) return ['live', 0]
    return [lines.length > 0 ? 'reconnecting' : 'offline', 0]
  }
}
