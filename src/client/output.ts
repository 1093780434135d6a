import { partTypes, type StoredEvent } from '../core/event.ts'
import type { Part } from '../core/message.ts'
import { assistantParts, PartsFold } from '../core/parts.ts'
import { keptBy } from '../core/standing.ts'
import { tellsAll } from './picture.ts'
import type { ThreadEvent } from './thread-event.ts'

/**
 * What a running task has put out, so that it can be taken back: its events are kept until it ends, each with those before
 * it. Where the first of them are only known as the parts of a snapshot, those stand as one.
 */
export interface Output {
  readonly parts: readonly Part[]
  readonly fold: PartsFold
  readonly base: readonly Part[]
  /** The head of the snapshot that `base` is from. */
  readonly baseHead: number
  readonly last?: Emit
}

interface Emit {
  readonly event: StoredEvent
  readonly before?: Emit | undefined
}

export function isOutput({ type }: { readonly type: string }): boolean {
  return (partTypes as readonly string[]).includes(type)
}

export function outputOf(base: readonly Part[] = [], baseHead = 0): Output {
  const fold = new PartsFold()
  for (const part of base) for (const [type, data] of asEvents(part)) fold.add({ type, data: JSON.stringify(data) })
  return { parts: base, fold, base, baseHead }
}

export function withOutput(output: Output, event: ThreadEvent): Output {
  return withStored(output, toStored(event))
}

/** What a resume leaves of it. What is only known as parts of a snapshot stands as a whole, or it cannot be told. */
export function resumedOutput(output: Output, event: Extract<ThreadEvent, { type: 'task.resumed' }>): Output {
  const { base, baseHead } = output
  const seed = tellsAll(event, baseHead) ? outputOf(base, baseHead) : outputOf()
  const events = history(output.last)
  return events.filter(keptBy([toStored(event)])).reduce(withStored, seed)
}

function withStored(output: Output, event: StoredEvent): Output {
  const fold = output.fold.clone()
  fold.add(event)
  return { ...output, fold, parts: assistantParts(fold), last: { event, before: output.last } }
}

function history(last: Emit | undefined): StoredEvent[] {
  const events: StoredEvent[] = []
  for (let emit = last; emit; emit = emit.before) events.push(emit.event)
  return events.reverse()
}

function toStored({ seq, at, type, data }: ThreadEvent): StoredEvent {
  return { seq, at, type, data: JSON.stringify(data) }
}

/** The events that make a part. Only an answer makes a part of data. */
function asEvents(part: Part): readonly (readonly [type: string, data: object])[] {
  switch (part.type) {
    case 'text':
      return [['text.delta', { text: part.text }]]
    case 'reasoning':
      return [['thinking', { text: part.text }]]
    case 'tool': {
      const { id, name, input, output, error } = part
      const isOpen = output === undefined && error === undefined
      const call = ['tool.call', { id, name, input }] as const
      return isOpen ? [call] : [call, ['tool.result', { id, output, error }]]
    }
    case 'data':
      return [['answer', { output: part.value }]]
    case 'file': {
      const { type: _left, ...file } = part
      return [['file', file]]
    }
  }
}
