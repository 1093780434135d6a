import { failureError, type ModelFailure, modelFailure } from './model-failure.ts'
import type { StreamPart } from './stream-part.ts'

/** What is kept of a model call: its parts, or how it failed. */
export interface StreamRecord {
  readonly parts: readonly RecordedPart[]
  /** A call whose stream had begun is not tried again. */
  readonly failure?: ModelFailure & { readonly isBegun: boolean }
}

/** A part as JSON holds it. */
type RecordedPart = { readonly type: string } & Readonly<Record<string, unknown>>

type Delta = Extract<StreamPart, { readonly delta: string }>

/**
 * Gathers the parts of one answer in the form they are recorded in: deltas of one block joined, because how a text was cut
 * into chunks means nothing to whoever reads it again.
 */
export class StreamRecorder {
  readonly #parts: StreamPart[] = []
  /** The deltas that follow each other in one block, not yet joined. */
  #run: { readonly first: Delta; readonly texts: string[] } | undefined

  add(part: StreamPart): void {
    // Raw chunks and pings say nothing that the other parts do not.
    if (part.type === 'raw' || part.type === 'ping') return
    if (!isDelta(part)) {
      this.#flush()
      this.#parts.push(part)
      return
    }
    const { first, texts } = this.#run ?? {}
    if (first && texts && first.type === part.type && first.id === part.id && !part.providerMetadata) {
      texts.push(part.delta)
      return
    }
    this.#flush()
    this.#run = { first: part, texts: [part.delta] }
  }

  record(): StreamRecord {
    this.#flush()
    return { parts: this.#parts.map(toRecorded) }
  }

  #flush(): void {
    if (this.#run) this.#parts.push({ ...this.#run.first, delta: this.#run.texts.join('') })
    this.#run = undefined
  }
}

/** The parts of a recorded answer, as the model gave them. */
export function recordedParts(record: StreamRecord): StreamPart[] {
  return record.parts.map(fromRecorded)
}

function isDelta(part: StreamPart): part is Delta {
  return 'delta' in part
}

function toRecorded(part: StreamPart): RecordedPart {
  if (part.type === 'error') return { type: part.type, error: modelFailure(part.error) }
  if (part.type === 'file' || part.type === 'reasoning-file') return { ...part, data: fileData(part.data) }
  return part as RecordedPart
}

function fromRecorded(part: RecordedPart): StreamPart {
  if (part.type === 'error') return { type: 'error', error: failureError(part['error'] as ModelFailure) }
  if (part.type === 'response-metadata' && typeof part['timestamp'] === 'string') {
    return { ...part, timestamp: new Date(part['timestamp']) } as StreamPart
  }
  if (part.type === 'file' || part.type === 'reasoning-file') {
    return { ...part, data: withUrl(part['data'] as FileData) } as StreamPart
  }
  return part as unknown as StreamPart
}

type FileData = Extract<StreamPart, { type: 'file' }>['data']

/** Bytes as base64, which a model may give them as from the start. */
export function fileData(data: FileData): FileData {
  if (data.type !== 'data' || typeof data.data === 'string') return data
  return { ...data, data: Buffer.from(data.data).toString('base64') }
}

/** An address becomes a string as JSON. */
function withUrl(data: FileData): FileData {
  return data.type === 'url' ? { ...data, url: new URL(data.url) } : data
}
