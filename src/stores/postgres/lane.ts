import { randomUUID } from 'node:crypto'
import { isHoldfastError } from '../../core/errors.ts'
import type { Unit } from '../../core/unit.ts'
import { TooLong } from '../store.ts'
import { pause } from './clock.ts'
import type { Connection } from './connection.ts'
import type { Opener } from './connections.ts'
import {
  codeOf,
  isEnding,
  isLocked,
  isRefusal,
  isTooLong,
  isWorthAnother,
  laneLost,
  locked,
  reasonOf,
  translate,
  unavailable,
} from './failure.ts'
import { type Answer, answerOf } from './lane-answer.ts'
import { LockWaits } from './lock-waits.ts'
import { OneByOne } from './one-by-one.ts'
import { type PackedBatch, packBatch } from './pack-batch.ts'

const openLane = `INSERT INTO holdfast.lanes (id, batch, answer, used_at) VALUES ($1, 0, '', holdfast.clock_ms())`
const closeLane = 'DELETE FROM holdfast.lanes WHERE id = $1'
const touchLane = 'UPDATE holdfast.lanes SET used_at = holdfast.clock_ms() WHERE id = $1 RETURNING used_at AS at'
// How long it waits for a lock is set for the one statement: behind a pooler nothing stays set on a connection.
const committing = (name: string): Committing => ({
  name,
  sql: `
    WITH waiting AS MATERIALIZED (SELECT set_config('lock_timeout', $5, true) AS setting)
    SELECT holdfast.${name}($1, $2, $3::jsonb, $4) AS answer FROM waiting WHERE waiting.setting <> ''`,
})
const commitUnits = committing('commit_units')
const commitEmits = committing('commit_units_emitting')

// What a commit needs of its tables, which only somebody is in the way of who has locked one as a whole. A VACUUM that shortens one
// lets it go at once for whoever waits, so it waits for a moment.
const lockTables = `DO $$ BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  LOCK TABLE holdfast.lanes, holdfast.threads, holdfast.tasks, holdfast.chunks, holdfast.messages, holdfast.mail, holdfast.steps,
    holdfast.questions, holdfast.keys, holdfast.nodes, holdfast.meta IN ROW EXCLUSIVE MODE;
END $$`
// Held by a commit whose answer was lost and that is not over yet.
const lockLane = 'SELECT FROM holdfast.lanes WHERE id = $1 FOR UPDATE NOWAIT'

// What was in the way once is seldom so again, and the first commit of a connection takes longer than all others.
const attemptsMax = 5
// Of a batch that the server does not get done in time: less at once may well be done. A large unit that stands alone cannot be
// cut, so it gets many times as long before it is given up; a small one is not what takes so long, unless it removes much.
const slowAttemptsMax = 2
const slowAttemptsMaxAlone = 10
const largeUnitLength = 1_048_576
const retryMsMin = 25
const retryMsMax = 1_000

/** A batch on its way, how long it may wait for locks, and who is told if its fate stays unknown. */
interface Sending {
  readonly batch: PackedBatch
  readonly lockMs: number
  readonly onLate: (why?: unknown) => void
}

interface Committing {
  readonly name: string
  readonly sql: string
}

/**
 * The way by which a store writes: numbered batches, one after the other.
 *
 * L1 A batch whose answer did not come is sent again under its number until an answer comes. The server moves the lane from n-1
 *    to n with the batch, so it is committed once however often it arrives, and the second time answered as the first.
 * L2 Only the server's refusal says that a batch was not committed, and of one that was sent before not even that: an earlier
 *    sending may still arrive. Such a number is used up with an empty batch, after which no sending of it can be committed.
 * L3 Everything goes through one lane, so what is written to a thread keeps its order whatever happens to connections.
 * L4 With nothing on its way a batch is sent before `commit` returns: whoever asked has time for other work meanwhile.
 */
export class Lane {
  readonly #opener: Opener
  readonly #name: string
  readonly #closing = new AbortController()
  #id: string = randomUUID()
  #isKnown = false
  #number = 0
  #connection: Connection | undefined
  readonly #turns = new OneByOne()
  #timeoutMs: number
  readonly #lockWaits = new LockWaits()

  constructor(opener: Opener, name: string, timeoutMs: number) {
    this.#opener = opener
    this.#name = name
    this.#timeoutMs = timeoutMs
  }

  /** The longest that a statement and a wait for a lock may take. */
  limit(timeoutMs: number): void {
    if (timeoutMs === this.#timeoutMs) return
    this.#timeoutMs = timeoutMs
    // What sets it is the opening of a connection.
    void this.#inTurn(async () => this.#drop()).catch(() => undefined)
  }

  /** `onLate` is called, perhaps more than once, while it cannot be found out what became of the batch, with the reason. */
  commit(units: readonly Unit[], now: () => number | undefined, onLate: Sending['onLate'] = () => {}): Promise<Answer> {
    return this.#inTurn(async () => {
      const batch = packBatch(units, now())
      const lockMs = this.#lockWaits.msFor(units, this.#timeoutMs)
      try {
        const answer = answerOf(await this.#commit({ batch, lockMs, onLate }), batch)
        this.#lockWaits.ended(units)
        return answer
      } catch (error) {
        if (isHoldfastError(error, 'thread_locked')) this.#lockWaits.lasted(units)
        throw error
      }
    })
  }

  /** Whether a commit could be made now: it writes, and takes the locks of one. It has no number: an answer that is lost is an answer. */
  probe(): Promise<Answer> {
    return this.#inTurn(async () => {
      await this.#ready()
      const statement = { sql: touchLane, values: [this.#id], timeoutMs: this.#answerMs }
      try {
        const [row] = (await this.#connection?.query<{ at: number }>(statement)) ?? []
        await this.#connection?.query({ sql: lockTables, timeoutMs: this.#answerMs })
        if (row) return { at: row.at, verdicts: [] }
      } catch (error) {
        throw translate(error, this.#name)
      }
      throw this.#lost()
    })
  }

  /** Lets what was sent be answered, gives up what has to be sent again, and says good-bye. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#turns.over()
    const connection = this.#connection
    this.#connection = undefined
    if (!connection) return
    // A lane that is left behind is removed when it is old.
    await connection.query({ sql: closeLane, values: [this.#id], timeoutMs: 1_000 }).catch(() => undefined)
    await connection.close()
  }

  /** Longer than the server itself allows a statement: without an answer by then the network has lost it. */
  get #answerMs(): number {
    return this.#timeoutMs * 1.5 + 200
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.add(async () => {
      if (this.#closing.signal.aborted) throw unavailable(this.#name, 'it is closed')
      return await work()
    })
  }

  async #commit(sending: Sending): Promise<string> {
    const { batch } = sending
    for (let attempt = 1; ; attempt++) {
      if (!this.#isKnown || this.#connection?.isLost !== false) await this.#ready()
      try {
        return await this.#send(sending)
      } catch (error) {
        if (!isRefusal(error)) return this.#settle(sending)
        if (isLocked(error)) throw await this.#lockMet(error)
        if (isTooLong(error) && attempt >= slowAttempts(batch)) throw this.#tooLong(batch, error)
        const isLast = attempt >= attemptsMax && !(isTooLong(error) && isLarge(batch))
        if (!isWorthAnother(error) || isLast) throw this.#refused(error)
      }
    }
  }

  /** Finds out what became of a batch whose answer did not come. */
  async #settle(sending: Sending): Promise<string> {
    const { batch, onLate } = sending
    let refusal: unknown
    let slowCount = 0
    for (let delayMs = retryMsMin; ; delayMs = Math.min(retryMsMax, delayMs * 2)) {
      await pause(delayMs, this.#closing.signal)
      if (this.#closing.signal.aborted) throw unavailable(this.#name, 'it was closed before it answered')
      let asked: Connection | undefined
      try {
        await this.#ready()
        asked = this.#connection
        const answer = await this.#send(refusal === undefined ? sending : { ...sending, batch: nothing })
        if (refusal !== undefined && isOfNothing(answer)) throw new Refused(refusal)
        return answer
      } catch (error) {
        if (error instanceof Refused) throw this.#refused(error.cause)
        if (isHoldfastError(error, 'store_unavailable') || isEnding(error)) onLate(translate(error, this.#name))
        // Behind where it was left, as after a restore from a copy: what was sent to it was not kept and never will be.
        if (codeOf(error) === laneLost) throw this.#refused(error)
        if (isLocked(error)) refusal ??= await this.#lockMet(error)
        // A server that can be reached and does not answer is at work, or does not get the whole of a large batch.
        if (isTooLong(error) || asked?.isSilent) slowCount += 1
        if (slowCount >= slowAttempts(batch)) refusal ??= this.#tooLong(batch, error)
        if (isUnitsFault(error, this.#name)) refusal = error
      }
    }
  }

  async #send({ batch: { isEmitting, given, lines }, lockMs }: Sending): Promise<string> {
    const connection = this.#connection
    if (!connection) throw unavailable(this.#name, 'there is no connection')
    const values = [this.#id, this.#number + 1, given, lines, String(lockMs)]
    const timeoutMs = this.#answerMs
    const [row] = await connection.query<{ answer: string }>({
      ...(isEmitting ? commitEmits : commitUnits),
      values,
      timeoutMs,
    })
    if (!row) throw new Error('A commit was not answered')
    this.#number += 1
    return row.answer
  }

  /** Makes sure of a connection, and that the server knows the lane. Nothing of a batch is sent by it. */
  async #ready(): Promise<void> {
    try {
      if (this.#connection?.isLost !== false) this.#connection = await this.#opener.open()
      if (this.#isKnown) return
      await this.#connection.query({ sql: openLane, values: [this.#id], timeoutMs: this.#answerMs })
      this.#isKnown = true
    } catch (error) {
      // Whether the server knows it now or not, another one is as good.
      if (!this.#isKnown) this.#id = randomUUID()
      throw translate(error, this.#name)
    }
  }

  /** Whether a row is held, which is its thread's own trouble, or all of a table, or the lane. */
  async #lockMet(error: unknown): Promise<unknown> {
    try {
      await this.#connection?.query({ sql: lockTables, timeoutMs: this.#answerMs })
      await this.#connection?.query({ sql: lockLane, values: [this.#id], timeoutMs: this.#answerMs })
      return locked(this.#name, error)
    } catch (failure) {
      return translate(failure, this.#name)
    }
  }

  #refused(error: unknown): unknown {
    if (error instanceof TooLong) return error
    return codeOf(error) === laneLost ? this.#lost(error) : translate(error, this.#name)
  }

  /** No failure of the store: the writer takes the batch apart, and gives up a unit that stands alone. */
  #tooLong({ unitCount, given, lines }: PackedBatch, cause: unknown): Error {
    const what = `${unitCount} ${unitCount === 1 ? 'unit' : 'units'} of ${given.length + lines.length} characters`
    return new TooLong(`${what} took the server longer than it may (${reasonOf(cause)})`, { cause })
  }

  /** The server does not know the lane as it was left: it goes on with another. */
  #lost(cause?: unknown): unknown {
    this.#id = randomUUID()
    this.#isKnown = false
    this.#number = 0
    return unavailable(this.#name, 'it is not where it was left, as after a restore. It is tried again', cause)
  }

  async #drop(): Promise<void> {
    await this.#connection?.close()
    this.#connection = undefined
  }
}

/** Ends the search for an answer: the batch was refused, and will not be committed. */
class Refused extends Error {
  constructor(refusal: unknown) {
    super('The batch was refused', { cause: refusal })
  }
}

function isLarge({ given, lines }: PackedBatch): boolean {
  return given.length + lines.length > largeUnitLength
}

/** How often a batch may take too long. */
function slowAttempts(batch: PackedBatch): number {
  if (batch.unitCount > 1) return slowAttemptsMax
  if (batch.isErasing) return slowAttemptsMax
  return isLarge(batch) ? slowAttemptsMaxAlone : Number.POSITIVE_INFINITY
}

const nothing = packBatch([], undefined)

function isOfNothing(answer: string): boolean {
  return answer.endsWith('"verdicts":[]}')
}

/** Whether the server will say the same of the batch however often it is sent. */
function isUnitsFault(error: unknown, name: string): boolean {
  return isRefusal(error) && translate(error, name) === error
}
