import { type StoredEvent, toEvent } from './event.ts'
import { type ThreadKey, threadOf } from './id.ts'
import { oneLine } from './one-line.ts'

// Their data holds the number and instant of their own commit, which were not known when it was encoded.
const incompleteTypes: readonly string[] = ['task.accepted', 'message.created']

// Events mostly come in a row from one task: what they have in common is kept from one to the next.
let latest: { readonly key: ThreadKey; readonly task: string | undefined; readonly text: Common } | undefined

interface Common {
  readonly thread: string
  readonly task: string
}

/**
 * The JSON text of an event as everybody sees it: what `JSON.stringify(toEvent(…))` parses to. The data is taken over as
 * it was first encoded, so that nothing is parsed or encoded again but the two types that `toEvent` completes. It is one
 * line to every reader of lines.
 */
export function eventText(key: ThreadKey, stored: StoredEvent): string {
  if (incompleteTypes.includes(stored.type)) return oneLine(JSON.stringify(toEvent(key, stored)))
  const { seq, at, task, type, epoch, data } = stored
  const { thread, task: ofTask } = commonText(key, task)
  const ofEpoch = epoch === undefined ? '' : `,"epoch":${epoch}`
  return `${thread}${seq}${ofTask}${type}","at":${at}${ofEpoch},"data":${oneLine(data)}}`
}

function commonText(key: ThreadKey, task: string | undefined): Common {
  if (latest?.key === key && latest.task === task) return latest.text
  // A restored task may have any text as its id; thread ids and types hold nothing that JSON escapes.
  const ofTask = task === undefined ? '' : `,"task":${oneLine(JSON.stringify(task))}`
  const text = { thread: `{"thread":"${threadOf(key)}","seq":`, task: `${ofTask},"type":"` }
  latest = { key, task, text }
  return text
}
