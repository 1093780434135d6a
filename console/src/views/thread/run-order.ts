import type { Message, Part, Task, ThreadEvent } from 'holdfast/client'
import { abandonedIn } from '../task/event-filter.ts'
import { cutFrom, textBlocks } from './text-blocks.ts'
import type { Asked, RunEntry } from './transcript.ts'

/**
 * How much a run had put out when something happened, by the id of what did: characters, and one for each call and file. It is
 * in the order in which they happened.
 */
export type Places = ReadonlyMap<string, number>

/** The events of a run that tell how much it has put out, and those of a thread that tell when something happened, or began again. */
export const outputTypes: readonly string[] = [
  'text.delta',
  'thinking',
  'tool.call',
  'tool.result',
  'file',
  'task.resumed',
]
export const markTypes: readonly string[] = ['task.accepted', 'question.asked', 'message.created', 'task.resumed']

export function placesIn(outputs: readonly ThreadEvent[], marks: readonly ThreadEvent[]): Places {
  const abandoned = abandonedIn(outputs)
  const standing = outputs.filter(({ seq }) => !abandoned.has(seq))
  const open = new Set<string>()
  const places = new Map<string, number>()
  let [at, place] = [0, 0]
  for (const mark of marks) {
    for (let event = standing[at]; event && event.seq < mark.seq; event = standing[at]) {
      place += lengthOf(event, open)
      at += 1
    }
    const id = idOf(mark)
    if (id !== undefined) places.set(id, place)
  }
  return places
}

/** Whether an event is where a child was spawned, a question asked, or a message read. */
export function isMarked(mark: ThreadEvent, id: string): boolean {
  return idOf(mark) === id
}

function idOf(mark: ThreadEvent): string | undefined {
  if (mark.type === 'task.accepted') return mark.data.task.id
  if (mark.type === 'message.created') return mark.data.message.id
  return mark.type === 'question.asked' ? mark.data.question.id : undefined
}

/** A call that is told again before its result is the same call. */
function lengthOf(event: ThreadEvent, open: Set<string>): number {
  if (event.type === 'tool.result') open.delete(event.data.id)
  if (event.type === 'text.delta' || event.type === 'thinking') return event.data.text.length
  if (event.type !== 'tool.call') return event.type === 'file' ? 1 : 0
  const isAgain = open.has(event.data.id)
  open.add(event.data.id)
  return isAgain ? 0 : 1
}

/**
 * What stands in a run: a part or a piece of one, children that were spawned there, a question that was asked there, what it was
 * told there. The key of a part stays the same whatever is put before it.
 */
export type Piece =
  | { readonly key: string; readonly part: Part }
  | { readonly children: Task[] }
  | { readonly asked: Asked }
  | { readonly said: Message }

/**
 * A run in the order in which it happened. A text in which something else happened is cut after the sentence, or the block, in which
 * it did. An open question stands at the end, where it is seen, as does what is not known to have happened elsewhere.
 */
export function piecesOf(entry: RunEntry, places: Places): Piece[] {
  const pieces: Piece[] = []
  const cards = cardsIn(entry, places)
  let from = 0
  for (const [index, part] of entry.parts.entries()) {
    const end = from + sizeOf(part)
    const within = cards.splice(0, cards.filter(({ place }) => place < end).length)
    const blocks = 'text' in part && within.length > 0 ? textBlocks(part.text) : []
    let done = 0
    for (const { piece, place } of within) {
      const cut = cutFrom(blocks, place - from)
      if (cut > done) pieces.push(pieceOf(part, index, done, cut))
      add(pieces, piece)
      done = cut
    }
    if (done === 0 || done < end - from) pieces.push(pieceOf(part, index, done))
    from = end
  }
  for (const { piece } of cards) add(pieces, piece)
  return pieces
}

function pieceOf(part: Part, index: number, from: number, to?: number): Piece {
  return { key: `${index}-${from}`, part: 'text' in part ? { ...part, text: part.text.slice(from, to) } : part }
}

interface Card {
  readonly piece: Piece
  readonly place: number
}

function cardsIn({ children, questions, steering, isLive }: RunEntry, places: Places): Card[] {
  const all = new Map<string, Piece>([
    ...steering.map((said): [string, Piece] => [said.id, { said }]),
    ...children.map((child): [string, Piece] => [child.id, { children: [child] }]),
    ...questions.filter(({ end }) => end).map((asked): [string, Piece] => [asked.question.id, { asked }]),
  ])
  const known = [...places].flatMap(([id, place]) => {
    const piece = all.get(id)
    return piece ? { piece, place } : []
  })
  const unknown = [...all].flatMap(([id, piece]) => (places.has(id) ? [] : piece))
  // Words that answer what a run was told should not stand before it; a run that is live has yet to answer.
  const isFirst = (piece: Piece) => !isLive && 'said' in piece
  const open = questions.filter(({ end }) => !end).map((asked) => ({ asked }))
  const last = [...unknown.filter((piece) => !isFirst(piece)), ...open]
  return [
    ...unknown.filter(isFirst).map((piece) => ({ piece, place: 0 })),
    ...known,
    ...last.map((piece) => ({ piece, place: Number.POSITIVE_INFINITY })),
  ]
}

/** The answer comes last, whatever else happened. */
function sizeOf(part: Part): number {
  if ('text' in part) return part.text.length
  return part.type === 'data' ? Number.POSITIVE_INFINITY : 1
}

/** Children that were spawned at once stand in one list. */
function add(pieces: Piece[], piece: Piece): void {
  const last = pieces.at(-1)
  if (last && 'children' in last && 'children' in piece) last.children.push(...piece.children)
  else pieces.push(piece)
}
