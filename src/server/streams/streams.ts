import { HoldfastError } from '../../core/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Clock, Timer } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Sink } from './sink.ts'

/** What is looked after while it is open. */
export interface Watched extends Pick<Sink, 'backlog' | 'taken'> {
  /** Called every `roundMs`: says that it is alive, unless something waits to be taken. */
  beat(): void
  /** Ends it in the regular way, because the server closes. */
  end(): void
  /** Ends it at once, because the reader takes nothing. */
  cut(): void
}

/** A place among the streams of a principal, from before the stream begins until it is closed. */
export interface StreamPlace {
  /** From now on it is beaten, cut when its reader takes nothing, and ended when the server closes. */
  watch(watched: Watched): void
  close(): void
}

export interface StreamsParts {
  readonly clock: Clock
  readonly limits: Pick<Limits, 'streamsPerPrincipal'>
  readonly log: Logger
  /** A reader was cut because it took nothing. */
  onCut?(): void
}

// Well within the 15 s that are promised, also where a timer is late.
const roundMs = 6000
// A round is made in steps, so that thousands of beats are not written in one turn of the event loop.
const stepsPerRound = 12
// Visits without a byte taken, after the first that saw some waiting: 30 s.
const visitsMax = 5

/**
 * All open streams of a server, with one timer for them all.
 *
 * M1 A timer is set only while something is watched.
 * M2 Whoever takes nothing for 30 s is cut. Visits are counted, not time: a process that was held up for a while does
 *    not take it out on its readers.
 */
export class Streams {
  readonly #clock: Clock
  readonly #perPrincipalMax: number
  readonly #log: Logger
  readonly #onCut: () => void
  readonly #counts = new Map<string, number>()
  readonly #steps: readonly Set<Place>[] = Array.from({ length: stepsPerRound }, () => new Set<Place>())
  #count = 0
  #watchedCount = 0
  #nextStep = 0
  #timer: Timer | undefined

  constructor({ clock, limits, log, onCut = () => {} }: StreamsParts) {
    this.#onCut = onCut
    this.#clock = clock
    this.#perPrincipalMax = limits.streamsPerPrincipal
    this.#log = log
  }

  get count(): number {
    return this.#count
  }

  /** Takes a place; throws `limit_reached` if the principal has as many streams as it may have. */
  open(principal: string): StreamPlace {
    const count = this.#counts.get(principal) ?? 0
    if (count >= this.#perPrincipalMax) throw tooMany(this.#perPrincipalMax)
    this.#counts.set(principal, count + 1)
    this.#count += 1
    return new Place(this, principal)
  }

  /** Ends every stream that is open now. */
  endAll(): void {
    for (const step of this.#steps) for (const place of step) place.watched?.end()
  }

  /** Called by a place. */
  watch(place: Place): void {
    this.#steps[this.#watchedCount % stepsPerRound]?.add(place)
    this.#watchedCount += 1
    this.#timer ??= this.#clock.setTimer(roundMs / stepsPerRound, () => this.#step())
  }

  /** Called by a place, once. */
  closed(place: Place): void {
    const count = (this.#counts.get(place.principal) ?? 1) - 1
    if (count === 0) this.#counts.delete(place.principal)
    else this.#counts.set(place.principal, count)
    this.#count -= 1
    for (const step of this.#steps) if (step.delete(place)) break
    if (this.#count > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #step(): void {
    const places = this.#steps[this.#nextStep]
    this.#nextStep = (this.#nextStep + 1) % stepsPerRound
    this.#timer = this.#clock.setTimer(roundMs / stepsPerRound, () => this.#step())
    for (const place of places ?? []) this.#visit(place)
  }

  #visit(place: Place): void {
    if (!place.isStalled()) return place.watched?.beat()
    this.#log.info({ principal: place.principal }, 'a stream is cut, because its reader took nothing for 30 s')
    place.watched?.cut()
    this.#onCut()
  }
}

class Place implements StreamPlace {
  readonly principal: string
  readonly #streams: Streams
  watched: Watched | undefined
  #isClosed = false
  /** What it had taken at the last visit, if anything was waiting then. */
  #taken: number | undefined
  #visits = 0

  constructor(streams: Streams, principal: string) {
    this.#streams = streams
    this.principal = principal
  }

  watch(watched: Watched): void {
    if (this.#isClosed) return
    this.watched = watched
    this.#streams.watch(this)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.watched = undefined
    this.#streams.closed(this)
  }

  /** Asked at every visit. */
  isStalled(): boolean {
    const { backlog, taken } = this.watched ?? { backlog: 0, taken: 0 }
    const isWaiting = backlog > 0
    this.#visits = isWaiting && taken === this.#taken ? this.#visits + 1 : 0
    this.#taken = isWaiting ? taken : undefined
    return this.#visits >= visitsMax
  }
}

function tooMany(max: number): HoldfastError {
  return new HoldfastError('limit_reached', `A principal may have ${max} streams at once (streamsPerPrincipal)`, {
    facts: { limit: 'streamsPerPrincipal', max, retryAfterMs: 1000 },
  })
}
