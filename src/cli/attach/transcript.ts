import type { Message, Question, SnapshotItem, Task, ThreadEvent, ThreadView } from '../../client/index.ts'
import { AbandonedOutput } from '../live/abandoned.ts'
import { messageText, optionsText, summaryOf, toolOutcome, valueText } from '../live/event-summary.ts'
import { cut } from '../show/display-width.ts'
import { oneLine, plainText } from '../show/plain-text.ts'
import type { Style } from '../show/show.ts'
import { statusWord } from '../show/status-word.ts'
import { wrap } from '../show/wrap.ts'
import type { ConversationScreen } from './conversation-screen.ts'

// As much of what was said before as gives the context; the rest is in `holdfast logs`.
const messagesShown = 10

export interface TranscriptOptions {
  readonly screen: ConversationScreen
  readonly style: Style
  readonly columns: () => number
  /** The task that is meant, beside the runs of the thread: what it says is shown as well. */
  readonly task?: string
}

/** Writes a thread as a conversation: what is said in full as it comes, what is done in a line each. */
export class Transcript {
  readonly #screen: ConversationScreen
  readonly #style: Style
  readonly #columns: () => number
  readonly #task: string | undefined
  readonly #abandoned = new AbandonedOutput()
  readonly #tools = new Map<string, string>()
  /** Of these the text was shown while they said it. */
  readonly #heard = new Set<string>()
  #speaker: string | undefined

  constructor({ screen, style, columns, task }: TranscriptOptions) {
    this.#screen = screen
    this.#columns = columns
    this.#style = style
    this.#task = task
  }

  /** What was before, and what is being said. */
  snapshot({ messages, tasks, live, questions, head }: SnapshotItem): void {
    for (const message of messages.slice(-messagesShown)) this.#message(message)
    const running = new Map(tasks.map((task) => [task.id, task]))
    for (const { task: id, parts } of live) {
      const task = running.get(id)
      if (!this.#isVoiced(task)) continue
      this.#abandoned.known(id, head)
      for (const part of parts) {
        if (part.type === 'text') this.#speak(id, task, part.text)
        if (part.type === 'tool') this.#line(`  ⚙ ${part.name}(${valueText(part.input)})`)
      }
    }
    for (const question of questions) this.#question(question)
  }

  /** `view` is the thread with this event in it. */
  event(event: ThreadEvent, view: ThreadView): void {
    const task = event.task === undefined ? undefined : view.tasks.get(event.task)
    const abandoned = this.#abandoned.heard(event)
    if (abandoned !== undefined) this.note(`${event.task} goes on; ${abandoned}`)
    if (this.#lifetime(event, task)) return
    if (event.type === 'message.created') return this.#created(event.data.message)
    if (event.type === 'question.asked') return this.#question(event.data.question)
    if (event.type.startsWith('question.') || event.type === 'inbox.accepted') {
      return this.#line(`${event.task ?? ''} ${event.type} ${summaryOf(event)}`)
    }
    if (this.#isVoiced(task)) this.#emitted(event, task)
  }

  /** Something that is not in the thread: about the connection, or an order of the person. */
  note(text: string): void {
    this.#line(text, this.#style.dim, true)
  }

  /** What a task emits that is listened to. */
  #emitted(event: ThreadEvent, task: Task | undefined): void {
    const id = event.task ?? ''
    switch (event.type) {
      case 'text.delta':
        return this.#speak(id, task, event.data.text)
      case 'thinking':
        this.#speaker = undefined
        return this.#screen.stream(plainText(event.data.text), this.#style.dim)
      case 'tool.call':
        this.#tools.set(event.data.id, event.data.name)
        return this.#line(`  ⚙ ${event.data.name}(${valueText(event.data.input)})`)
      case 'tool.result':
        return this.#line(`  ⚙ ${this.#tools.get(event.data.id) ?? event.data.id} → ${toolOutcome(event.data)}`)
      case 'custom':
        return this.#line(`  #${event.seq} ${summaryOf(event)}`)
      default:
    }
  }

  /** Says how tasks come and go. False if the event is of another kind. */
  #lifetime(event: ThreadEvent, task: Task | undefined): boolean {
    const isRun = task?.type === 'run'
    switch (event.type) {
      case 'task.accepted':
        if (!isRun) this.#line(`  + ${event.task} ${summaryOf(event)}`)
        return true
      case 'task.cancelling':
        this.#line(`  ${event.task} cancelling ${summaryOf(event)}`)
        return true
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled': {
        const status = event.type.slice('task.'.length) as Task['status']
        const { glyph, word, style } = statusWord({ status })
        const why = event.type === 'task.completed' ? '' : ` ${summaryOf(event)}`
        this.#line(`${isRun ? '' : '  '}${glyph} ${event.task} ${word}${why}`, this.#style[style])
        return true
      }
      default:
        return event.type.startsWith('task.')
    }
  }

  #created(message: Message): void {
    const isHeard = message.task !== undefined && this.#heard.has(message.task)
    if (message.role === 'assistant' && isHeard) return this.#screen.endStream()
    this.#message(message)
  }

  #message(message: Message): void {
    const text = plainText(messageText(message))
    if (text === '') return
    const isSaid = message.parts.some(({ type }) => type === 'text')
    if (message.role === 'user') return this.#line(`❯ ${text}`, this.#style.bold, isSaid)
    if (message.role === 'assistant') return this.#block(text)
    this.#line(`${message.role}: ${text}`)
  }

  #question({ id, task, text, options }: Question): void {
    this.#line(`? ${id} ${task} asks: ${text}${optionsText(options)}  (/answer TEXT)`, this.#style.yellow, true)
  }

  #speak(id: string, task: Task | undefined, text: string): void {
    const speaker = `${task?.agent ?? 'agent'} ${id}`
    if (this.#speaker !== speaker) {
      this.#line(speaker)
      this.#speaker = speaker
    }
    this.#heard.add(id)
    this.#screen.stream(plainText(text))
  }

  #isVoiced(task: Task | undefined): boolean {
    return task?.type === 'run' || (task !== undefined && task.id === this.#task)
  }

  #block(text: string): void {
    this.#speaker = undefined
    this.#screen.line(
      text
        .split('\n')
        .flatMap((line) => wrap(line, this.#columns() - 1))
        .join('\n'),
    )
  }

  /** What was done fits on a row; what was said is not cut. */
  #line(text: string, paint: (text: string) => string = this.#style.dim, isWhole = false): void {
    this.#speaker = undefined
    const line = (/^ */.exec(text)?.[0] ?? '') + oneLine(text.trimStart())
    const width = this.#columns() - 1
    const rows = isWhole ? wrap(line, width) : [cut(line, width)]
    this.#screen.line(rows.map(paint).join('\n'))
  }
}
