import type { EventDraft, EventType, StoredEvent } from './event.ts'
import type { TaskId } from './id.ts'

/**
 * One line of a chunk row. JSON text holds no raw tab or line feed, and neither do ids, types and step keys, so
 * a chunk is split without parsing and the data stays the text that was first encoded.
 */
export function encodeLine(event: EventDraft): string {
  return `${linePrefix(event)}${event.data}`
}

/** What stands before the data. */
export function linePrefix({ type, task, epoch, step }: EventDraft): string {
  return `${type}\t${task ?? ''}\t${epoch ?? ''}\t${step ?? ''}\t`
}

/** What a line says before its data. */
export interface LinePrefix {
  /** As it stands in the line, with its last tab. */
  readonly text: string
  readonly type: EventType
  readonly task: TaskId | ''
  readonly epoch: number | undefined
  readonly step: string
}

/**
 * Decodes the lines of chunks. Lines in a row mostly begin alike, so what was cut out of one is kept for the next: a
 * replay is mostly this.
 */
export class LineDecoder {
  #prefix: LinePrefix | undefined

  decode(body: string, begin: number, end: number, seq: number, at: number): StoredEvent {
    let prefix = this.#prefix
    if (prefix === undefined || !body.startsWith(prefix.text, begin)) {
      prefix = readPrefix(body, begin)
      this.#prefix = prefix
    }
    return eventOf(prefix, body.slice(begin + prefix.text.length, end), seq, at)
  }
}

/** The event of a line that begins so. */
export function eventOf({ type, task, epoch, step }: LinePrefix, data: string, seq: number, at: number): StoredEvent {
  // Nearly every event is one of a running task; what may be absent is spread only where it may be.
  if (task !== '' && epoch !== undefined && step === '') return { seq, at, type, task, epoch, data }
  return {
    seq,
    at,
    type,
    ...(task !== '' && { task }),
    ...(epoch !== undefined && { epoch }),
    ...(step !== '' && { step }),
    data,
  }
}

export function readPrefix(body: string, begin: number): LinePrefix {
  const a = body.indexOf('\t', begin)
  const b = body.indexOf('\t', a + 1)
  const c = body.indexOf('\t', b + 1)
  const d = body.indexOf('\t', c + 1)
  const epoch = body.slice(b + 1, c)
  return {
    text: body.slice(begin, d + 1),
    type: body.slice(begin, a) as EventType,
    task: body.slice(a + 1, b) as TaskId | '',
    epoch: epoch === '' ? undefined : Number(epoch),
    step: body.slice(c + 1, d),
  }
}
