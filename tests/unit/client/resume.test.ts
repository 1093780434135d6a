import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Place,
  type PlaceAction,
  type PlaceInput,
  type PlaceItem,
  placeAt,
  resume,
} from '../../../src/client/resume.ts'
import type { ThreadEvent } from '../../../src/client/thread-event.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import { threadId } from '../../../src/core/id.ts'
import type { ThreadSnapshot } from '../../../src/core/thread-snapshot.ts'
import { event } from './events.ts'

const whole = { isWhole: true }

function snapshotAt(head: number): ThreadSnapshot {
  return { thread: threadId('t'), head, first: 1, watchers: 0, messages: [], tasks: [], live: [], questions: [] }
}

const refusal = (code: 'offset_gone' | 'offset_ahead' | 'not_found' | 'draining', facts = {}) =>
  ({ type: 'lost', error: new HoldfastError(code, `refused as ${code}`, { facts }), random: 0 }) as const

function run(place: Place, ...inputs: readonly PlaceInput[]): { place: Place; actions: readonly PlaceAction[] } {
  let actions: readonly PlaceAction[] = []
  for (const input of inputs) [place, actions] = resume(place, input)
  return { place, actions }
}

const say = (seq: number): PlaceInput => ({ type: 'event', event: event('text.delta', { text: `${seq}` }, { seq }) })
const lost: PlaceInput = { type: 'lost', random: 0 }
const give = (item: PlaceItem): PlaceAction => ({ do: 'give', item })

describe('the place of an attachment', () => {
  it('begins with the log after a number, or with a snapshot and what follows it', () => {
    expect(run(placeAt({ ...whole, after: 4 }), { type: 'start' }).actions).toEqual([{ do: 'follow', after: 4 }])
    expect(run(placeAt(whole), { type: 'start' }).actions).toEqual([{ do: 'read' }])
    const { actions } = run(placeAt(whole), { type: 'start' }, { type: 'snapshot', snapshot: snapshotAt(7) })
    expect(actions).toEqual([give({ type: 'snapshot', ...snapshotAt(7) }), { do: 'follow', after: 7 }])
  })

  it('goes on from the last number that it gave, after a wait that grows and is short again after a success', () => {
    const start = run(placeAt({ ...whole, after: 0 }), { type: 'start' }, { type: 'opened' }, say(1), lost)
    expect(start.actions).toEqual([{ do: 'wait', ms: 125 }])
    const again = run(start.place, { type: 'due' })
    expect(again.actions).toEqual([{ do: 'follow', after: 1 }])
    const second = run(again.place, lost)
    expect(second.actions).toEqual([{ do: 'wait', ms: 250 }])
    expect(run(second.place, { type: 'due' }, { type: 'opened' }, lost).actions).toEqual([{ do: 'wait', ms: 125 }])
  })

  it('waits at most 15 s, and as long as the server says', () => {
    let { place } = run(placeAt({ ...whole, after: 0 }), { type: 'start' })
    for (let tries = 0; tries < 20; tries += 1) ({ place } = run(place, lost, { type: 'due' }))
    expect(run(place, { type: 'lost', random: 1 }).actions).toEqual([{ do: 'wait', ms: 15_000 }])
    expect(run(place, refusal('draining', { retryAfterMs: 20_000 })).actions).toEqual([{ do: 'wait', ms: 20_000 }])
  })

  it('passes over a number that it gave, and asks again where one is missing', () => {
    const { place } = run(placeAt({ ...whole, after: 3 }), { type: 'start' }, say(4))
    expect(run(place, say(4)).actions).toEqual([])
    expect(run(place, say(6)).actions).toEqual([{ do: 'stop' }, { do: 'wait', ms: 125 }])
    expect(run(place, say(6), { type: 'due' }).actions).toEqual([{ do: 'follow', after: 4 }])
    const filtered = run(placeAt({ isWhole: false, after: 3 }), { type: 'start' }, say(6))
    expect(filtered.actions).toHaveLength(1)
  })

  it.each(['offset_ahead', 'offset_gone'] as const)('says %s and goes on from a snapshot', (code) => {
    const { place, actions } = run(placeAt({ ...whole, after: 9 }), { type: 'start' }, refusal(code))
    expect(actions).toEqual([{ do: 'read' }])
    expect(run(place, { type: 'snapshot', snapshot: snapshotAt(2) }).actions).toEqual([
      give({ type: 'notice', code, after: 9, message: `refused as ${code}` }),
      give({ type: 'snapshot', ...snapshotAt(2) }),
      { do: 'follow', after: 2 },
    ])
  })

  it('does not hurry to a log that is refused again and again', () => {
    const once = run(
      placeAt({ ...whole, after: 9 }),
      { type: 'start' },
      refusal('offset_gone'),
      { type: 'snapshot', snapshot: snapshotAt(2) },
      refusal('offset_gone'),
    )
    expect(once.actions).toEqual([{ do: 'wait', ms: 250 }])
  })

  it('ends with its task, whichever of its end and the word of the server comes first', () => {
    const of = () => run(placeAt({ isWhole: false, after: 0, task: 'bg_0' }), { type: 'start' }).place
    const end = event('task.completed', {}, { seq: 5 })
    expect(run(of(), { type: 'event', event: end }).actions).toEqual([give(end), { do: 'stop' }, { do: 'finish' }])
    expect(run(of(), { type: 'ended' }).actions).toEqual([{ do: 'stop' }, { do: 'finish' }])
    const other = event('task.completed', {}, { seq: 5, task: 'bg_1' })
    expect(run(of(), { type: 'event', event: other }).actions).toEqual([give(other)])
  })

  it('gives up what is refused for good, and comes back for the rest', () => {
    const { place } = run(placeAt({ ...whole, after: 0 }), { type: 'start' })
    const { error } = refusal('not_found')
    expect(run(place, { type: 'lost', error, random: 0 }).actions).toEqual([{ do: 'finish', error }])
    expect(run(place, refusal('draining')).actions).toEqual([{ do: 'wait', ms: 125 }])
  })

  it('stops while nobody takes what came, and goes on from there', () => {
    const parked = run(placeAt({ ...whole, after: 0 }), { type: 'start' }, say(1), { type: 'full' })
    expect(parked.actions).toEqual([{ do: 'stop' }])
    expect(run(parked.place, say(2)).actions).toEqual([])
    expect(run(parked.place, { type: 'drained' }).actions).toEqual([{ do: 'follow', after: 1 }])
  })

  it('reads a newer snapshot after an event that does not tell all, and loses no number by it', () => {
    const pictured = [{ type: 'start' }, { type: 'snapshot', snapshot: snapshotAt(7) }] as const
    const resumed = event('task.resumed', { attempt: 2, node: 'n', keep: 3 }, { seq: 8 })
    const { place, actions } = run(placeAt(whole), ...pictured, { type: 'event', event: resumed })
    expect(actions).toEqual([give(resumed), { do: 'stop' }, { do: 'read' }])
    const read = run(place, { type: 'snapshot', snapshot: snapshotAt(12) })
    expect(read.actions).toEqual([give({ type: 'snapshot', ...snapshotAt(12) }), { do: 'follow', after: 8 }])
    const told = event('task.resumed', { attempt: 2, node: 'n', keep: 7 }, { seq: 8 })
    expect(run(placeAt(whole), ...pictured, { type: 'event', event: told }).actions).toEqual([give(told)])
    const unasked = run(placeAt({ ...whole, after: 7 }), { type: 'start' }, { type: 'event', event: resumed })
    expect(unasked.actions).toEqual([give(resumed)])
  })

  it('does nothing after it is closed', () => {
    const { place, actions } = run(placeAt({ ...whole, after: 0 }), { type: 'start' }, { type: 'close' })
    expect(actions).toEqual([{ do: 'stop' }, { do: 'finish' }])
    for (const input of [say(1), lost, refusal('draining'), { type: 'due' }, { type: 'close' }] as const) {
      expect(resume(place, input)).toEqual([place, []])
    }
  })
})

/** What happens next in the world around a place. */
type Turn =
  | 'append'
  | 'deliver'
  | 'repeat'
  | 'skip'
  | 'lose'
  | 'refuse'
  | 'open'
  | 'due'
  | 'hasten'
  | 'full'
  | 'drained'
  | 'delete'

const turns = fc.array(
  fc.constantFrom<Turn[]>(
    ...(['append', 'append', 'deliver', 'deliver', 'deliver', 'repeat', 'skip', 'lose', 'refuse', 'open'] as const),
    ...(['due', 'hasten', 'full', 'drained', 'delete'] as const),
  ),
  { maxLength: 200 },
)

/** A log that grows and is deleted, and a server that gives it to one place. */
class Log {
  head: number
  first = 1
  at: number | undefined
  place: Place
  readonly given: PlaceItem[] = []

  constructor(head: number, after: number | undefined) {
    this.head = head
    this.place = placeAt({ isWhole: true, ...(after !== undefined && { after }) })
    this.send({ type: 'start' })
  }

  send(input: PlaceInput): void {
    const [place, actions] = resume(this.place, input)
    this.place = place
    for (const action of actions) this.#act(action)
  }

  take(turn: Turn): void {
    if (turn === 'append') this.head += 1
    if (turn === 'delete') this.#delete()
    if (turn === 'deliver') this.#deliver(1)
    if (turn === 'repeat') this.#deliver(0)
    if (turn === 'skip') this.#deliver(2)
    if (turn === 'open' && this.at !== undefined) this.send({ type: 'opened' })
    if (turn === 'lose') this.#end(lost)
    if (turn === 'refuse') this.#end(refusal('draining'))
    if (turn === 'full') this.send({ type: 'full' })
    if (turn === 'due' || turn === 'hasten' || turn === 'drained') this.send({ type: turn })
  }

  /** Whoever has not seen all is cut off. */
  #delete(): void {
    this.first = this.head + 1
    if (this.at !== undefined && this.at < this.head) this.#end(lost)
  }

  /** Gives the event that is so many after the last; more than one leaves some out. */
  #deliver(step: number): void {
    if (this.at === undefined || this.at + step > this.head) return
    this.at += step
    this.send({ type: 'event', event: event('text.delta', { text: '' }, { seq: this.at }) })
  }

  #end(input: PlaceInput): void {
    if (this.at === undefined) return
    this.at = undefined
    this.send(input)
  }

  #act(action: PlaceAction): void {
    if (action.do === 'give') this.given.push(action.item)
    if (action.do === 'stop' || action.do === 'wait') this.at = undefined
    if (action.do === 'read') this.send({ type: 'snapshot', snapshot: snapshotAt(this.head) })
    if (action.do === 'follow') this.#follow(action.after)
  }

  #follow(after: number): void {
    if (after > this.head) return this.send(refusal('offset_ahead'))
    if (after < this.first - 1) return this.send(refusal('offset_gone'))
    this.at = after
  }
}

describe('the place of an attachment, whatever happens', () => {
  it('gives each number after its start once and in order, and says where it could not go on', () => {
    fc.assert(
      fc.property(fc.nat(8), fc.option(fc.nat(10), { nil: undefined }), turns, (head, after, planned) => {
        const log = new Log(head, after)
        for (const turn of planned) log.take(turn)
        expectInOrder(log.given, after)
        for (let left = 0; left < 40; left += 1)
          for (const turn of ['due', 'drained', 'deliver'] as const) log.take(turn)
        for (let left = log.head; left > 0; left -= 1) log.take('deliver')
        if (log.given.length > 0) expect(expectInOrder(log.given, after)).toBe(log.head)
      }),
      { numRuns: 500 },
    )
  })
})

/** Says how far it got. A snapshot that was not announced shows the same log again, and moves no place. */
function expectInOrder(given: readonly PlaceItem[], after: number | undefined): number | undefined {
  let last = after
  let isAnnounced = after === undefined
  for (const item of given) {
    if (item.type === 'notice') {
      expect(item.after).toBe(last)
      isAnnounced = true
    } else if (item.type === 'snapshot') {
      last = isAnnounced ? item.head : last
      isAnnounced = false
    } else {
      expect((item as ThreadEvent).seq).toBe((last ?? Number.NaN) + 1)
      last = (item as ThreadEvent).seq
    }
  }
  return last
}
