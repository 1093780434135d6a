import type { EventData, EventType } from './event.ts'
import type { JsonText } from './id.ts'
import type { Part } from './message.ts'

type ToolPart = Extract<Part, { type: 'tool' }>

/**
 * What a task has put out so far, folded from its events. A part is replaced, never changed, so that a copy of
 * the list is a copy of everything. Text grows by concatenation, which costs the same however long it has become.
 */
export class PartsFold {
  #parts: Part[] = []
  /** Where the open call of each id stands. An id names one open call at a time. */
  #open = new Map<string, number>()
  #answer: { readonly output: unknown } | undefined

  /** Takes the next event that counts. Types that are no parts are passed over unparsed. */
  add(event: { readonly type: string; readonly data: JsonText }): void {
    switch (event.type) {
      case 'text.delta':
        this.#join('text', parse<'text.delta'>(event.data).text)
        return
      case 'thinking':
        this.#join('reasoning', parse<'thinking'>(event.data).text)
        return
      case 'tool.call':
        this.#call(parse<'tool.call'>(event.data))
        return
      case 'tool.result':
        this.#result(parse<'tool.result'>(event.data))
        return
      case 'file':
        this.#parts.push({ type: 'file', ...parse<'file'>(event.data) })
        return
      case 'answer':
        this.#answer = { output: parse<'answer'>(event.data).output }
    }
  }

  clone(): PartsFold {
    const copy = new PartsFold()
    copy.#parts = [...this.#parts]
    copy.#open = new Map(this.#open)
    copy.#answer = this.#answer
    return copy
  }

  /** The parts so far, without the answer. */
  get parts(): Part[] {
    return [...this.#parts]
  }

  /** The ids of calls without a result, in the order of the calls. */
  get openCalls(): string[] {
    return [...this.#open.keys()]
  }

  /** The last answer that was given. */
  get answer(): { readonly output: unknown } | undefined {
    return this.#answer
  }

  /** All text joined. */
  get said(): string {
    return this.#parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  }

  #join(type: 'text' | 'reasoning', text: string): void {
    // An empty delta says nothing: it makes no part, and so no output.
    if (text === '') return
    const last = this.#parts.at(-1)
    if (last?.type !== type) this.#parts.push({ type, text })
    else this.#parts[this.#parts.length - 1] = { type, text: last.text + text }
  }

  #call({ id, name, input }: EventData['tool.call']): void {
    const part: ToolPart = { type: 'tool', id, name, input }
    const open = this.#open.get(id)
    // A call repeated before its result is the same call, told again.
    if (open !== undefined) {
      this.#parts[open] = part
      return
    }
    this.#open.set(id, this.#parts.length)
    this.#parts.push(part)
  }

  #result({ id, output, error }: EventData['tool.result']): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    this.#parts[open] = {
      ...(this.#parts[open] as ToolPart),
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error }),
    }
  }
}

function parse<Type extends EventType>(data: JsonText): EventData[Type] {
  return JSON.parse(data) as EventData[Type]
}

/** Whether there is more than reasoning to show. No getter of the fold, so that the client, which never asks, is without it. */
export function hasOutput({ answer, parts }: PartsFold): boolean {
  return answer !== undefined || parts.some((part) => part.type !== 'reasoning')
}

/** The parts of an assistant message. The answer comes last: as text if it is all there is to read, else as data. */
export function assistantParts(fold: PartsFold): Part[] {
  const { parts, answer } = fold
  if (!answer) return parts
  const { output } = answer
  const isText = typeof output === 'string' && fold.said === ''
  return [...parts, isText ? { type: 'text', text: output } : { type: 'data', name: 'answer', value: output }]
}
