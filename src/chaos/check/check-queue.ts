import { isTerminalEvent } from '../../core/event.ts'
import { byTask, type Case, endingOf, isTrimmed, ofType, type ThreadHistory } from '../history/case.ts'
import { broken, lifeOf, lineOf, type Violation } from './violation.ts'

/** Whether runs took their turns, and trees held together. */
export function* checkQueues(found: Case): Generator<Violation> {
  for (const thread of found.threads.values()) {
    yield* checkTurns(thread)
    yield* checkNames(thread)
    yield* checkTrees(thread, found)
  }
}

/** One run at a time, and each in its turn: a run that grew from a message has the message's place. */
function* checkTurns({ thread, first, log }: ThreadHistory): Generator<Violation> {
  const places = new Map(ofType(log, 'inbox.accepted').map((event) => [event.data.id, event.seq]))
  const waiting = new Map<string, { readonly place: number; readonly line: string }>()
  let active: { readonly task: string; readonly line: string } | undefined
  for (const event of log) {
    const { task } = event
    if (task === undefined) continue
    const line = lineOf(event)
    if (event.type === 'task.accepted' && event.data.task.type === 'run') {
      // A message that was pruned had its place before all that is left. One that never was gives no place.
      const unknown = first > 1 && event.data.steered !== undefined ? 0 : event.seq
      waiting.set(task, { place: places.get(event.data.steered ?? '') ?? unknown, line })
    }
    const own = waiting.get(task)
    if (event.type === 'task.started' && own) {
      if (active) yield broken('G10', `${thread}: ${task} was started while ${active.task} ran`, [active.line, line])
      const before = [...waiting].filter(([, { place }]) => place < own.place)
      if (before.length > 0) {
        const witness = [...before.map(([, other]) => other.line), own.line, line]
        yield broken('G10', `${thread}: ${task} was started before ${before.map(([id]) => id).join(', ')}`, witness)
      }
      active = { task, line }
    }
    if (isTerminalEvent(event) && active?.task === task) active = undefined
    if (isTerminalEvent(event) || event.type === 'task.started') waiting.delete(task)
  }
}

/** A name belongs to one live task at a time. */
function* checkNames({ thread, log }: ThreadHistory): Generator<Violation> {
  const holders = new Map<string, string>()
  for (const event of log) {
    if (event.type === 'task.accepted' && event.data.task.name !== undefined) {
      const { name, id } = event.data.task
      const holder = holders.get(name)
      if (holder !== undefined)
        yield broken('G13', `${thread}: ${id} got the name ${name} of ${holder}`, [lineOf(event)])
      holders.set(name, id)
    }
    if (!isTerminalEvent(event)) continue
    for (const [name, holder] of holders) if (holder === event.task) holders.delete(name)
  }
}

/** No child comes after its parent's end or cancel, and an attached one that outlives it is cancelled. */
function* checkTrees(thread: ThreadHistory, found: Case): Generator<Violation> {
  const events = byTask(thread)
  for (const [id, own] of events) {
    const child = found.tasks.get(id)
    const parent = child?.parent?.task
    if (!child || parent === undefined) continue
    const above = events.get(parent) ?? []
    const end = endingOf(above)
    const stop = above.find((event) => isTerminalEvent(event) || event.type === 'task.cancelling')
    const isKnown = found.homes.get(parent) === thread.thread
    if (above.length === 0 && !isKnown)
      yield broken('G13', `${id} has the parent ${parent}, which is not in ${thread.thread}`)
    if (!stop || !end) continue
    const witness = () => [...lifeOf(found, parent), ...lifeOf(found, id)]
    if (!isTrimmed(thread, own) && (own[0]?.seq ?? 0) > stop.seq)
      yield broken('G13', `${id} was accepted after its parent ${parent} was stopped`, witness())
    const outlives = (own.at(-1)?.seq ?? 0) > end.seq
    if (!child.detached && outlives && child.status !== 'cancelled') {
      yield broken('G13', `${id} outlived its parent ${parent} and is ${child.status}`, witness())
    }
  }
}
