import { type StoredEvent, toEvent } from './event.ts'
import { type TaskId, type ThreadKey, threadOf } from './id.ts'
import { oneLine } from './one-line.ts'

// Their data holds the number and instant of their own commit, which were not known when it was encoded.
const incompleteTypes: readonly string[] = ['task.accepted', 'message.created', 'question.asked']

// Events mostly come in a row from one task and one commit: what stands around their numbers and data is kept from one
// to the next.
let latest: Around | undefined

interface Around extends Pick<StoredEvent, 'type' | 'at'> {
  readonly key: ThreadKey
  readonly task: TaskId | undefined
  readonly epoch: number | undefined
  /** Up to the number. */
  readonly before: string
  /** From the number to the data. */
  readonly between: string
}

/**
 * The JSON text of an event as everybody sees it: what `JSON.stringify(toEvent(…))` parses to. The data is taken over as
 * it was first encoded, so that nothing is parsed or encoded again but the few types that `toEvent` completes. It is one
 * line to every reader of lines.
 */
export function eventText(key: ThreadKey, stored: StoredEvent): string {
  const { type, at, task, epoch } = stored
  let around = latest
  if (
    around?.at !== at ||
    around.type !== type ||
    around.task !== task ||
    around.epoch !== epoch ||
    around.key !== key
  ) {
    if (incompleteTypes.includes(type)) return oneLine(JSON.stringify(toEvent(key, stored)))
    around = textAround(key, stored)
    latest = around
  }
  return `${around.before}${stored.seq}${around.between}${oneLine(stored.data)}}`
}

function textAround(key: ThreadKey, { type, at, task, epoch }: StoredEvent): Around {
  // A restored task may have any text as its id; thread ids and types hold nothing that JSON escapes.
  const ofTask = task === undefined ? '' : `,"task":${oneLine(JSON.stringify(task))}`
  const ofEpoch = epoch === undefined ? '' : `,"epoch":${epoch}`
  return {
    key,
    type,
    at,
    task,
    epoch,
    before: `{"thread":"${threadOf(key)}","seq":`,
    between: `${ofTask},"type":"${type}","at":${at}${ofEpoch},"data":`,
  }
}
