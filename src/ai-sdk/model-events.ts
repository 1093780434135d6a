import { errorText } from '../core/outcome.ts'
import type { Usage } from '../core/task.ts'
import type { AgentContext } from '../runtime/agent.ts'
import { type ShownTool, showTool, unlessTooLarge } from './shown-tool.ts'
import type { StreamPart } from './stream-part.ts'
import { fileData } from './stream-record.ts'
import { jsonText } from './user-content.ts'

type PartOf<Type extends StreamPart['type']> = Extract<StreamPart, { type: Type }>

// A character takes at most six bytes as JSON, so a text of this length fits into an event whatever it holds.
const textLengthMax = 32 * 1024

/** The open calls of tools that the provider executes itself, by id. It may give a result with a later answer. */
export type ProvidedCalls = Map<string, Omit<ShownTool, 'output' | 'error'>>

/** Emits what the parts of one answer say, as they come. */
export class ModelEvents {
  readonly #ctx: AgentContext
  readonly #provided: ProvidedCalls
  #modelId: string | undefined

  constructor(ctx: AgentContext, provided: ProvidedCalls) {
    this.#ctx = ctx
    this.#provided = provided
  }

  /** Notes what a part that was told of before leaves open. */
  meet(part: StreamPart): void {
    if (part.type === 'tool-call' && part.providerExecuted) this.#open(part)
    if (part.type === 'tool-result' && !part.preliminary) this.#provided.delete(part.toolCallId)
  }

  /** Resolves when there is room for more; undefined if nothing was emitted. */
  tell(part: StreamPart): Promise<void> | undefined {
    const ctx = this.#ctx
    switch (part.type) {
      case 'text-delta':
        return inPieces(part.delta, (text) => ctx.say(text))
      case 'reasoning-delta':
        return inPieces(part.delta, (text) => ctx.think(text))
      case 'response-metadata':
        this.#modelId = part.modelId ?? this.#modelId
        return undefined
      case 'tool-call':
        return part.providerExecuted ? showTool(ctx, this.#open(part)) : undefined
      case 'tool-result':
        return this.#provided.has(part.toolCallId) && !part.preliminary ? this.#conclude(part) : undefined
      case 'file':
        return this.#file(part)
      case 'source':
        return unlessTooLarge(
          () => ctx.emit('source', part),
          () => ctx.emit('source_omitted', { id: part.id }),
        )
      case 'finish':
        return this.#finish(part)
      default:
        return undefined
    }
  }

  #open({ toolCallId, toolName, input }: PartOf<'tool-call'>): ShownTool {
    const call = {
      type: 'tool',
      id: `${this.#ctx.taskId}:${toolCallId}`,
      name: toolName,
      input: parsed(input),
    } as const
    this.#provided.set(toolCallId, call)
    return call
  }

  #conclude({ toolCallId, result, isError }: PartOf<'tool-result'>): Promise<void> | undefined {
    const call = this.#provided.get(toolCallId)
    if (!call) return undefined
    this.#provided.delete(toolCallId)
    return showTool(this.#ctx, { ...call, ...(isError ? { error: errorText(jsonText(result)) } : { output: result }) })
  }

  /** A file is in the log whole; one that is too large for an event is only told of. */
  #file(part: PartOf<'file'>): Promise<void> {
    const { mediaType } = part
    const data = fileData(part.data)
    const url = data.type === 'url' ? String(data.url) : `data:${mediaType};base64,${String(data.data)}`
    return unlessTooLarge(
      () => this.#ctx.show({ type: 'file', mediaType, url }),
      () => this.#ctx.emit('file_omitted', { mediaType, length: url.length }),
    )
  }

  async #finish({ usage, finishReason }: PartOf<'finish'>): Promise<void> {
    await this.#ctx.usage(usageOf(usage))
    const model = this.#modelId
    await this.#ctx.emit('finish', { reason: finishReason.unified, ...(model !== undefined && { model }) })
  }
}

function inPieces(text: string, emit: (piece: string) => Promise<void>): Promise<void> | undefined {
  if (text === '') return undefined
  if (text.length <= textLengthMax) return emit(text)
  return eachPiece(text, emit)
}

async function eachPiece(text: string, emit: (piece: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + textLengthMax, text.length)
    // A character of two units stays whole.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    await emit(text.slice(at, end))
    at = end
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** What is known of it, under the names that the SDK gives the counts. */
function usageOf({ inputTokens, outputTokens }: PartOf<'finish'>['usage']): Usage {
  const counts = {
    inputTokens: inputTokens.total,
    cachedInputTokens: inputTokens.cacheRead,
    outputTokens: outputTokens.total,
    reasoningTokens: outputTokens.reasoning,
  }
  const known = Object.entries(counts).filter(([, count]) => typeof count === 'number' && Number.isFinite(count))
  return { modelCalls: 1, ...Object.fromEntries(known) }
}

/** A model writes the input of a call as JSON, or so it should. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}
