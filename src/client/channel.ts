import { HoldfastError } from '../core/errors.ts'
import { isTerminalEvent } from '../core/event.ts'
import type { ClientFrame } from '../protocol/frames.ts'
import type { Sink, Wanted } from './source.ts'
import type { ThreadEvent } from './thread-event.ts'

interface Member {
  readonly wanted: Wanted
  readonly sink: Sink
}

/**
 * One attachment of a socket, and all of this client who share it: the server has at most one for each thread and task, and
 * one for all threads.
 * It begins where the one that is furthest behind is, with all that anyone wants; each takes what is new to it and passes its
 * own filter.
 */
export class Channel {
  readonly thread: string | undefined
  readonly task: string | undefined
  /** The id of the last attach. What comes under another belongs to one that was replaced. */
  id: number | undefined
  /** Whether the socket of the last attach is gone. */
  isStale = false
  readonly #members = new Set<Member>()

  constructor({ thread, task }: Wanted) {
    this.thread = thread
    this.task = task
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  join(wanted: Wanted, sink: Sink): Member {
    const member = { wanted, sink }
    this.#members.add(member)
    return member
  }

  /** False if it had left. */
  leave(member: Member): boolean {
    return this.#members.delete(member)
  }

  attachFrame(id: number): ClientFrame {
    this.id = id
    const members = [...this.#members]
    const after = Math.min(...members.map(({ sink }) => sink.after))
    const isWhole = members.some(({ wanted }) => !wanted.types)
    const types = [...new Set(members.flatMap(({ wanted }) => wanted.types ?? []))]
    const filter = { id, ...(!isWhole && { types }) }
    const address = this.#address()
    return address ? { type: 'attach', ...filter, ...address, after } : { type: 'watch', ...filter }
  }

  detachFrame(id: number): ClientFrame {
    const address = this.#address()
    return address ? { type: 'detach', id, ...address } : { type: 'unwatch', id }
  }

  /** Who is beyond the head has a place that this log never had. */
  attached(head: number): void {
    const { isStale } = this
    this.isStale = false
    for (const member of [...this.#members]) {
      const { sink } = member
      if (sink.after <= head) sink.opened(isStale)
      else if (this.leave(member)) sink.lost(beyond(head))
    }
  }

  event(event: ThreadEvent, size: number): void {
    for (const { wanted, sink } of [...this.#members]) if (passes(wanted, event)) sink.event(event, size)
  }

  /** Tells those whom a refusal is about. True if others are left, who have to be attached again. */
  refuse(error: HoldfastError): boolean {
    const { first } = error.facts
    const isGone = error.code === 'offset_gone' && typeof first === 'number'
    this.lose(error, isGone ? first - 1 : Number.POSITIVE_INFINITY)
    return !this.isEmpty
  }

  end(): void {
    for (const member of [...this.#members]) if (this.leave(member)) member.sink.ended()
  }

  /** Tells those who are before a number, all unless given, that it is over for them. */
  lose(error?: HoldfastError, before = Number.POSITIVE_INFINITY): void {
    for (const member of [...this.#members]) {
      if (member.sink.after < before && this.leave(member)) member.sink.lost(error)
    }
  }

  #address(): { thread: string; task?: string } | undefined {
    const { thread, task } = this
    return thread === undefined ? undefined : { thread, ...(task !== undefined && { task }) }
  }
}

function passes({ task, types }: Wanted, event: ThreadEvent): boolean {
  if (!types || types.includes(event.type)) return true
  return task !== undefined && event.task === task && isTerminalEvent(event)
}

function beyond(head: number): HoldfastError {
  return new HoldfastError('offset_ahead', `The log ends at ${head}`, { facts: { head } })
}
