import type { EventDraft, EventType, StoredEvent } from './event.ts'
import type { TaskId } from './id.ts'

/**
 * One line of a chunk row. JSON text holds no raw tab or line feed, and neither do ids, types and step keys, so
 * a chunk is split without parsing and the data stays the text that was first encoded.
 */
export function encodeLine(event: EventDraft): string {
  return `${event.type}\t${event.task ?? ''}\t${event.epoch ?? ''}\t${event.step ?? ''}\t${event.data}`
}

export function decodeLine(line: string, seq: number, at: number): StoredEvent {
  const a = line.indexOf('\t')
  const b = line.indexOf('\t', a + 1)
  const c = line.indexOf('\t', b + 1)
  const d = line.indexOf('\t', c + 1)
  const type = line.slice(0, a) as EventType
  const task = line.slice(a + 1, b) as TaskId | ''
  const epoch = line.slice(b + 1, c)
  const step = line.slice(c + 1, d)
  const data = line.slice(d + 1)
  // Nearly every event is one of a running task; what may be absent is spread only where it may be.
  if (task !== '' && epoch !== '' && step === '') return { seq, at, type, task, epoch: Number(epoch), data }
  return {
    seq,
    at,
    type,
    ...(task !== '' && { task }),
    ...(epoch !== '' && { epoch: Number(epoch) }),
    ...(step !== '' && { step }),
    data,
  }
}
