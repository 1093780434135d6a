import { end } from '../core/end.ts'
import { isHoldfastError } from '../core/errors.ts'
import type { TaskId } from '../core/id.ts'
import { errorText } from '../core/outcome.ts'
import { PartsFold } from '../core/parts.ts'
import { start } from '../core/start.ts'
import type { ClaimQuery, Offer, TaskRef } from '../stores/claim.ts'
import type { Store } from '../stores/store.ts'
import { allDone } from './all-done.ts'
import { alternate } from './alternate.ts'
import type { Clock, Timer } from './clock.ts'
import type { Closures } from './closures.ts'
import { intent } from './entry.ts'
import type { Lease } from './lease.ts'
import type { Logger } from './logger.ts'
import type { OpenTasks } from './open-tasks.ts'
import { OwnWork } from './own-work.ts'
import type { Recovery } from './recovery.ts'
import type { Registry } from './registry.ts'
import type { Slots } from './slots.ts'
import { Tries } from './tries.ts'
import type { Writer } from './writer.ts'

export interface DispatcherParts {
  readonly store: Store
  readonly writer: Writer
  readonly slots: Slots
  readonly log: Logger
  readonly clock: Clock
  readonly node: string
  readonly agents: Registry
  readonly closures: Closures
  readonly openTasks: OpenTasks
  readonly lease: Pick<Lease, 'isSteady'>
  /** Takes orphans over and goes on with them, or ends them; a slot that is taken for one is its. */
  readonly recovery: Omit<Recovery, 'handOver' | 'endRest' | 'takeResumption'>
}

type Question = Omit<ClaimQuery, 'node' | 'agents'> & Partial<ClaimQuery>
type Waiting = Omit<NonNullable<Offer['counts']>, 'openByPrincipal'>

// Others tell of every commit of theirs, and few of them leave work to this node.
const soonMs = 25
// More than one look can bring is fetched by the next.
const claimsMax = 256
// Of each of them a page of its log is in memory.
const endingsMax = 256
// The size of a store changes slowly, and to a database it is dear to tell.
const countsPerSize = 60

/**
 * Starts what may start on this node: pending tasks whose turn it is, and tasks whose node is gone. Woken by a hint, or
 * by the supervisor's poll.
 *
 * D1 It looks again after every look that got something done, and whenever it was poked meanwhile.
 * D2 A task is begun only after its start is committed, by the reactions to that commit.
 * D3 A task whose start the store cannot take fails, or its thread would wait behind it for ever.
 * D4 It does not look while the store takes nothing: what it is offered is kept from nodes that can start it. And it takes nothing
 *    over while its own lease is not steady. Nor does it look into threads that rest, or for orphans that do, or those would be
 *    offered first for ever.
 * D5 Once a look has found that nothing waits, a slot that gets free is no reason for another: whatever comes to wait is told of,
 *    by the commit, by another node's hint, or by the poll. Room for agents that have a limit is another matter: that gets free
 *    along with slots.
 * D6 What can only be ended takes no slot, and is ended also while none is free and whatever limit its agent has: nothing of its code
 *    is called, and whoever waits for its end may be what holds a slot. No look waits until it has ended, which may take long. While
 *    no slot is free it is looked for when the poll comes round and when a task is cancelled that nobody executes here, not with every
 *    task that comes to wait.
 * D7 It leaves to others for a moment what came to wait by their commits, and they to it (`ClaimQuery.own`), but for a look after `poke`.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #tries: Tries
  readonly #own: OwnWork
  #isOpen = false
  #isLooking = false
  #looking: Promise<void> = Promise.resolve()
  #isPoked = false
  /** Nothing waits for a slot (D5). */
  #isDry = false
  /** There may be something that can only be ended (D6). */
  #mayEnd = false
  #ending: Promise<void> | undefined
  #isClosuresTurn = false
  #waiting: Waiting = { pending: 0, unclaimable: 0, owedHooks: 0, nodes: 0 }
  #soon: Timer | undefined
  #countNumber = 0

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#tries = new Tries(parts.log)
    this.#own = new OwnWork(parts.clock)
  }

  /** What waited at the last count. */
  get waiting(): Waiting {
    return this.#waiting
  }

  open(): void {
    this.#isOpen = true
    this.poke()
  }

  /** Resolves when nothing it began is under way any more. */
  async close(): Promise<void> {
    this.#isOpen = false
    this.#soon?.cancel()
    this.#parts.recovery.close()
    await Promise.all([this.#looking, this.#ending])
    await this.#parts.recovery.settled()
  }

  poke(): void {
    this.#mayEnd = true
    this.#own.takeAll()
    const isLooking = this.#isLooking
    this.pokeForStarts()
    // No need to wait until the look is done, which writes what it found.
    if (isLooking) this.#endBeside()
  }

  /** Something came to wait for a slot, by a commit of this node's own (D7) or of another. */
  pokeForStarts(own: readonly TaskId[] = []): void {
    if (this.#parts.store.isShared) this.#own.add(own)
    this.#isPoked = true
    this.#isDry = false
    if (this.#isOpen && !this.#isLooking) this.#looking = this.#look()
  }

  /** A slot got free: what waits for one may start. */
  pokeForSlot(): void {
    if (!this.#isDry || this.#parts.slots.places.limits) this.pokeForStarts()
  }

  /** Something may have been left to this node by another; many such hints come to one look. */
  pokeSoon(): void {
    if (!this.#isOpen) return
    this.#soon ??= this.#parts.clock.setTimer(soonMs, () => {
      this.#soon = undefined
      this.pokeForStarts()
    })
  }

  /** Counts what waits and what is open, for metrics and limits. */
  async count(): Promise<void> {
    const onCounted = this.#parts.openTasks.counting()
    const withBytes = this.#countNumber++ % countsPerSize === 0
    const { counts } = await this.#claim({ starts: 0, orphans: 0, withCounts: true, withBytes })
    if (!counts) return
    const { bytes } = this.#waiting
    const { openByPrincipal, ...waiting } = counts
    this.#waiting = { ...(bytes !== undefined && { bytes }), ...waiting }
    onCounted(openByPrincipal)
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    // The supervisor's poll looks again; the writer reports and counts a store that is down.
    await this.#tries.make('looking for work failed; it is tried again', async () => {
      while (this.#isOpen && this.#isPoked && this.#parts.slots.free > 0 && !this.#parts.writer.isDown) {
        this.#isPoked = false
        if (await this.#serve()) this.#isPoked = true
      }
    })
    this.#isLooking = false
    this.#endBeside()
  }

  /** D6. Beside the looks for what may start: it may have to wait until others have ended. */
  #endBeside(): void {
    if (!this.#isOpen || !this.#mayEnd) return
    this.#ending ??= this.#endAllOver().finally(() => {
      this.#ending = undefined
    })
  }

  async #endAllOver(): Promise<void> {
    const { writer, recovery } = this.#parts
    await this.#tries.make('ending orphans failed; it is tried again', async () => {
      while (this.#mayEnd && this.#isOpen && !writer.isDown) {
        const room = endingsMax - recovery.endings.size
        if (room <= 0) {
          await Promise.race(recovery.endings)
          continue
        }
        this.#mayEnd = false
        if (await this.#endOver(room)) this.#mayEnd = true
      }
    })
  }

  /**
   * Asks in the name of agents that are not resumed alone, so nothing is offered that could go on, and without their limits: nothing
   * of them is executed.
   */
  async #endOver(countMax: number): Promise<boolean> {
    if (!this.#parts.lease.isSteady) return false
    const agents = this.#notResumed()
    const { orphans } = await this.#ask({ starts: 0, orphans: countMax, withCounts: false, agents })
    return allDone(orphans.map((orphan) => this.#finish(orphan)))
  }

  #notResumed(): string[] {
    const { agents, recovery } = this.#parts
    return [...agents.keys()].filter((agent) => recovery.canOnlyEnd({ agent }))
  }

  async #finish(orphan: TaskRef): Promise<boolean> {
    const { recovery } = this.#parts
    if (recovery.endings.size < endingsMax) return await recovery.finish(orphan)
    this.#mayEnd = true
    return false
  }

  async #serve(): Promise<boolean> {
    const count = Math.min(this.#parts.slots.free, claimsMax)
    const written = this.#parts.writer.batches()
    const orphanCount = this.#parts.lease.isSteady ? Math.min(count, this.#parts.recovery.room) : 0
    // All that can only be ended is among what is offered, if that is less than was asked for, but for what a limit keeps back.
    const { places } = this.#parts.slots
    if (orphanCount > 0) this.#mayEnd &&= this.#notResumed().some((agent) => places.isLimited(agent))
    const own = this.#own.forLook(claimsMax)
    const offer = await this.#claim({ starts: count, orphans: orphanCount, withCounts: false, ...(own && { own }) })
    const closures = this.#parts.closures.waiting(count, this.#parts.writer.resting)
    const isAnyOffered = offer.starts.length + offer.orphans.length + closures.length > 0
    this.#isDry = !isAnyOffered && !offer.isPartial && !offer.hasLeft && orphanCount > 0 && !this.#isPoked
    const orphans = offer.orphans.map((orphan) => this.#takeOver(orphan))
    // Functions of this process and tasks of registered agents alternate, also where one slot at a time gets free.
    this.#isClosuresTurn = !this.#isClosuresTurn
    const inTurns = this.#isClosuresTurn ? alternate(closures, offer.starts) : alternate(offer.starts, closures)
    const starts = inTurns.map((ref) => this.#withSlot(ref, () => this.#start(ref)))
    if (orphanCount > 0 && offer.orphans.length >= orphanCount) this.#mayEnd = true
    const hasServed = await allDone([...orphans, ...starts])
    if (offer.hasLeft) this.pokeSoon()
    if (hasServed || !offer.isPartial) return hasServed
    // What this node wrote meanwhile held back what it could start; of what others write it hears, or looks again soon.
    const isOwn = await written()
    if (!isOwn) this.pokeSoon()
    return isOwn
  }

  #takeOver(orphan: TaskRef): Promise<boolean> {
    const { recovery } = this.#parts
    if (recovery.canOnlyEnd(orphan)) return this.#finish(orphan)
    return this.#withSlot(orphan, () => recovery.recover(orphan))
  }

  /** Keeps to the limits that agents have. */
  async #claim(query: Question): Promise<Offer> {
    const { places } = this.#parts.slots
    const { limits } = places
    const offer = await this.#ask({ ...query, ...(limits && { limits }) })
    if (limits) places.heard(offer.elsewhere ?? new Map())
    return offer
  }

  #ask(query: Question): Promise<Offer> {
    const { store, node, agents, writer, recovery } = this.#parts
    const [except, exceptTasks] = [writer.resting, recovery.resting]
    return store.claim({
      node,
      agents: [...agents.keys()],
      ...(except.length > 0 && { except }),
      ...(exceptTasks.length > 0 && { exceptTasks }),
      ...query,
    })
  }

  async #withSlot({ agent }: TaskRef, serve: () => Promise<boolean>): Promise<boolean> {
    if (!this.#isOpen || !this.#parts.slots.tryTake(agent)) return false
    return await serve()
  }

  async #start({ id, key, agent }: TaskRef): Promise<boolean> {
    const done = await this.#parts.writer
      .change(intent(key, 'start', (live, around) => start(live, around, id)))
      .catch((error: unknown) => ({ error }))
    const hasStarted = 'value' in done && done.value !== undefined
    if ('value' in done) this.#own.drop(id)
    if (!hasStarted) this.#parts.slots.give(agent)
    // Cancelled on another node before it began, or taken over from this one.
    if (!hasStarted && 'value' in done) this.#parts.closures.drop(id)
    if ('error' in done && isHoldfastError(done.error)) throw done.error
    return 'error' in done ? this.#giveUp({ id, key }, done.error) : hasStarted
  }

  /** D3. */
  async #giveUp({ id, key }: TaskRef, error: unknown): Promise<boolean> {
    const message = `The start of the task could not be stored: ${errorText(error)}`
    const outcome = { status: 'failed', error: { code: 'agent_error', message } } as const
    const ending = { outcome, output: new PartsFold() }
    await this.#parts.writer.change(intent(key, 'end', (live, around) => end(live, around, id, 0, ending)))
    return true
  }
}
