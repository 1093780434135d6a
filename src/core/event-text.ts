import { type StoredEvent, toEvent } from './event.ts'
import { eventOf, type LinePrefix, readPrefix } from './event-line.ts'
import { type EventRow, lineEnd } from './event-row.ts'
import { type TaskId, type ThreadKey, threadOf } from './id.ts'
import { isOneLine, oneLine } from './one-line.ts'

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

/**
 * Hands out the text of each event of a row. Lines in a row mostly begin alike, so that little is made of each but its text: a
 * replay is mostly this.
 */
export function rowTexts(key: ThreadKey, row: EventRow, use: (seq: number, text: string) => void): void {
  const { first, last, at, body } = row
  // Once for all that is in it.
  const isPlain = isOneLine(body)
  let prefix: LinePrefix | undefined
  let around: Around | undefined
  let begin = 0
  for (let seq = first; seq <= last; seq++) {
    if (!prefix || !body.startsWith(prefix.text, begin)) {
      prefix = readPrefix(body, begin)
      around =
        isPlain && !incompleteTypes.includes(prefix.type) ? textAround(key, eventOf(prefix, '', seq, at)) : undefined
    }
    const end = lineEnd(body, begin)
    const data = body.slice(begin + prefix.text.length, end)
    use(
      seq,
      around ? `${around.before}${seq}${around.between}${data}}` : eventText(key, eventOf(prefix, data, seq, at)),
    )
    begin = end + 1
  }
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
    // Joined, they are in one piece. As a template each is a tree of pieces, which every text that holds it has to walk.
    before: ['{"thread":"', threadOf(key), '","seq":'].join(''),
    between: [ofTask, ',"type":"', type, '","at":', at, ofEpoch, ',"data":'].join(''),
  }
}
