import type { Part, Task } from '../client/index.ts'
import type { ChatChunk, ChatMetadata } from './chat-transport-shapes.ts'

type TextPart = Extract<Part, { type: 'text' | 'reasoning' }>
type ToolPart = Extract<Part, { type: 'tool' }>

/**
 * Writes the parts of one message as chunks: each time what has changed since the last.
 *
 * C1 Whoever reads all chunks so far shows the parts that were last written.
 * C2 What only grows is written as what is new of it. Where something that is shown stands no longer, because a resume
 *    abandoned it, all is taken back and what stands is written again. A chat can take back its current step, nothing smaller
 *    and nothing larger; so the whole message is one step.
 */
export class PartWriter {
  #shown: readonly Part[] = []
  #isWhole = false

  /** `isWhole` says that nothing follows. */
  write(parts: readonly Part[], isWhole = false): ChatChunk[] {
    const chunks = this.#changes(parts)
    if (isWhole && !this.#isWhole) chunks.push(...closing(parts))
    this.#shown = parts
    this.#isWhole = isWhole
    return chunks
  }

  #changes(parts: readonly Part[]): ChatChunk[] {
    const shown = this.#shown
    const calls = callIds(parts)
    // Every text was ended when another part came after it.
    const growing = this.#isWhole ? -1 : shown.length - 1
    const goesOn = shown.every((part, at) => isKept(part, parts[at], at === growing))
    if (!goesOn) return [{ type: 'reset-step' }, ...addedChunks(parts, 0, calls)]
    const changed = shown.flatMap((part, at) => changeChunks(part, parts[at], at, calls))
    const last = parts[growing]
    const isEnding = last && isText(last) && parts.length > shown.length
    return [...changed, ...(isEnding ? [textEnd(last, growing)] : []), ...addedChunks(parts, shown.length, calls)]
  }
}

/** The ids of calls as a chat has them, where each names one call; here a call that has ended leaves its id to others. */
export function callIds(parts: readonly Part[]): readonly string[] {
  const counts = new Map<string, number>()
  return parts.map((part) => {
    if (part.type !== 'tool') return ''
    const count = (counts.get(part.id) ?? 0) + 1
    counts.set(part.id, count)
    return count === 1 ? part.id : `${part.id}#${count}`
  })
}

/** What a chat is told of the end of a run. */
export function endChunks({ status, error }: Task): ChatChunk[] {
  const message = error?.message ?? ''
  const finish = finishOf({ status, error })
  const step: ChatChunk = { type: 'finish-step' }
  if (status === 'completed') return [step, { type: 'finish', finishReason: 'stop', messageMetadata: { finish } }]
  if (status === 'cancelled') {
    // Interrupted: so that a chat that goes on by itself does not.
    const end: ChatChunk = { type: 'finish', finishReason: 'interrupted', messageMetadata: { finish } }
    return [step, end, { type: 'abort', reason: message }]
  }
  return [step, { type: 'message-metadata', messageMetadata: { finish } }, { type: 'error', errorText: message }]
}

function finishOf({
  status,
  error,
}: {
  status: Task['status']
  error: Task['error']
}): Required<ChatMetadata>['finish'] {
  if (status === 'completed') return 'end_turn'
  if (status === 'cancelled') return 'cancelled'
  return error?.code === 'timeout' ? 'timeout' : 'error'
}

/** Whether what is shown of a part can become what it is now. */
function isKept(shown: Part, now: Part | undefined, isGrowing: boolean): boolean {
  if (shown === now) return true
  if (!now || shown.type !== now.type) return false
  if (isText(shown)) {
    const { text } = now as TextPart
    return isGrowing ? text.startsWith(shown.text) : text === shown.text
  }
  if (shown.type === 'tool' && isOpen(shown)) return shown.id === (now as ToolPart).id
  if (shown.type === 'data') return shown.name === (now as typeof shown).name
  return isSame(shown, now)
}

function changeChunks(shown: Part, now: Part | undefined, at: number, calls: readonly string[]): ChatChunk[] {
  if (!now || shown === now) return []
  if (isText(now)) return textDelta(now, at, now.text.slice((shown as TextPart).text.length))
  if (isSame(shown, now)) return []
  if (now.type === 'tool') return toolChunks(now, calls[at] ?? now.id, shown as ToolPart)
  return now.type === 'data' ? [dataChunk(now, at)] : []
}

function addedChunks(parts: readonly Part[], from: number, calls: readonly string[]): ChatChunk[] {
  const isLast = (at: number) => at === parts.length - 1
  const added = parts.map((part, at) => (at < from ? [] : partChunks(part, at, calls[at] ?? '', isLast(at))))
  return added.flat()
}

function partChunks(part: Part, at: number, toolCallId: string, isLast: boolean): ChatChunk[] {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const begun: ChatChunk[] = [{ type: `${part.type}-start`, id: `${at}` }, ...textDelta(part, at, part.text)]
      return isLast ? begun : [...begun, textEnd(part, at)]
    }
    case 'tool':
      return toolChunks(part, toolCallId)
    case 'file':
      return [fileChunk(part)]
    case 'data':
      return [dataChunk(part, at)]
  }
}

/** A text that is open ends. A call without a result has one that is nothing: those that had none were given an error. */
function closing(parts: readonly Part[]): ChatChunk[] {
  const calls = callIds(parts)
  const last = parts.at(-1)
  const results = parts.flatMap((part, at): ChatChunk[] =>
    part.type === 'tool' && isOpen(part) ? [outputChunk(calls[at] ?? part.id, undefined)] : [],
  )
  return [...results, ...(last && isText(last) ? [textEnd(last, parts.length - 1)] : [])]
}

function textDelta({ type }: TextPart, at: number, text: string): ChatChunk[] {
  return text === '' ? [] : [{ type: `${type}-delta`, id: `${at}`, delta: text }]
}

function textEnd({ type }: TextPart, at: number): ChatChunk {
  return { type: `${type}-end`, id: `${at}` }
}

function toolChunks(part: ToolPart, toolCallId: string, shown?: ToolPart): ChatChunk[] {
  const { name, input, output, error } = part
  // The server has the tools: a page that could run one is not asked to.
  const call: ChatChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName: name,
    input,
    providerExecuted: true,
  }
  const isTold = shown && shown.name === name && isSame(shown.input, input)
  const begun = isTold ? [] : [call]
  if (error !== undefined) {
    return [...begun, { type: 'tool-output-error', toolCallId, errorText: error, providerExecuted: true }]
  }
  return output === undefined ? begun : [...begun, outputChunk(toolCallId, output)]
}

function outputChunk(toolCallId: string, output: unknown): ChatChunk {
  return { type: 'tool-output-available', toolCallId, output, providerExecuted: true }
}

function fileChunk({ mediaType, url, name }: Extract<Part, { type: 'file' }>): ChatChunk {
  return { type: 'file', mediaType, url, ...(name !== undefined && { providerMetadata: { holdfast: { name } } }) }
}

function dataChunk({ name, value }: Extract<Part, { type: 'data' }>, at: number): ChatChunk {
  return { type: `data-${name}`, id: `${at}`, data: value }
}

function isText(part: Part): part is TextPart {
  return part.type === 'text' || part.type === 'reasoning'
}

function isOpen({ output, error }: ToolPart): boolean {
  return output === undefined && error === undefined
}

/** Both are JSON, and were made by the same hand: their fields stand in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
