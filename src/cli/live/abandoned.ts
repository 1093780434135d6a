import type { ThreadEvent } from '../../client/index.ts'

type Resumed = Extract<ThreadEvent, { type: 'task.resumed' }>

// What the runtime writes about a task stands; all else an agent emits, and a resume can abandon it.
const written = /^(task|message|inbox|question)\./

/**
 * Remembers how far each task got, so that a resume can be put into words: what was printed cannot be taken back, but it can
 * be said that it does not count.
 */
export class AbandonedOutput {
  readonly #last = new Map<string, number>()

  /** What a task had put out when it was first looked at reaches to this number. */
  known(task: string, head: number): void {
    this.#last.set(task, head)
  }

  /** Takes notice of an event; of a resume that abandons something it says what, otherwise nothing. */
  heard(event: ThreadEvent): string | undefined {
    const { task = '' } = event
    if (event.type === 'task.resumed') return sentence(event, this.#last.get(task) ?? 0)
    if (!written.test(event.type)) this.#last.set(task, event.seq)
    return undefined
  }
}

function sentence({ data: { keep, dropped = [] } }: Resumed, last: number): string | undefined {
  const ranges = dropped.map(([first, end]) => (first === end ? String(first) : `${first}-${end}`))
  if (last > keep) ranges.push(last === keep + 1 ? String(last) : `${keep + 1}-${last}`)
  if (ranges.length === 0) return undefined
  const isOne = ranges.length === 1 && !ranges[0]?.includes('-')
  return isOne ? `event ${ranges[0]} does not count` : `events ${ranges.join(', ')} do not count`
}
