import type { Question, Task, ThreadEvent } from '../../client/index.ts'
import type { Cli } from '../command.ts'
import { age, duration } from '../show/ages.ts'
import { jsonText } from '../show/json-text.ts'
import { oneLine, plainText } from '../show/plain-text.ts'
import { progressBar } from '../show/progress-bar.ts'
import { shellWord } from '../show/shell-word.ts'
import { StatusLine } from '../show/status-line.ts'
import { statusWord } from '../show/status-word.ts'
import { AbandonedOutput } from './abandoned.ts'
import { optionsText, toolOutcome, valueText } from './event-summary.ts'

/** How a run is followed: `text` prints what it says as it says it, `result` only what comes of it, `json` every event. */
export type RunShows = 'text' | 'result' | 'json'

/** Shows a run that is followed: what it says on stdout, what it does on stderr. */
export class RunPrinter {
  readonly #cli: Cli
  readonly #shows: RunShows
  readonly #status: StatusLine
  readonly #abandoned = new AbandonedOutput()
  readonly #tools = new Map<string, string>()
  /** Those that are open. */
  readonly #questions = new Set<string>()
  readonly #since: number
  #task: Task
  #doing = ''
  #hasSaid = false
  #isLineOpen = false

  constructor(cli: Cli, task: Task, shows: RunShows) {
    this.#cli = cli
    this.#task = task
    this.#shows = shows
    this.#since = cli.around.clock.now()
    this.#status = new StatusLine(cli.around, !cli.global.quiet, () => this.#statusText())
  }

  event(event: ThreadEvent): void {
    if (this.#shows === 'json') return this.#status.out(`${jsonText(event)}\n`)
    const abandoned = this.#abandoned.heard(event)
    if (abandoned !== undefined) this.aside(`${event.task} goes on; ${abandoned}`)
    switch (event.type) {
      case 'text.delta':
        return this.#say(event.data.text)
      case 'task.started':
        this.#task = { ...this.#task, status: 'running' }
        return
      case 'task.cancelling':
        this.#task = { ...this.#task, cancelRequestedAt: event.at }
        return
      case 'progress':
        this.#task = { ...this.#task, progress: event.data.value }
        this.#doing = event.data.note ?? this.#doing
        return
      case 'tool.call':
        this.#tools.set(event.data.id, event.data.name)
        this.#doing = event.data.name
        return this.aside(`  ⚙ ${event.data.name}(${valueText(event.data.input)})`)
      case 'tool.result':
        this.#doing = ''
        return this.aside(`  ⚙ ${this.#tools.get(event.data.id) ?? event.data.id} → ${toolOutcome(event.data)}`)
      case 'question.asked':
        this.#questions.add(event.data.question.id)
        return this.#ask(event.data.question)
      case 'question.answered':
      case 'question.closed':
        return void this.#questions.delete(event.data.id)
      default:
    }
  }

  /** Says something about it, for a person. */
  aside(text: string): void {
    this.#status.aside(() => this.#cli.show.notice(text))
    this.#isLineOpen &&= !this.#cli.around.isTty.out
  }

  /** Prints what has not been said, and how it ended. */
  end(task: Task): void {
    this.#endLine()
    if (task.status === 'completed') this.#printResult(task)
    this.#status.close()
    const { glyph, word } = statusWord(task)
    const why = task.error ? `: ${task.error.message}` : ''
    const took = task.startedAt === undefined || task.completedAt === undefined ? 0 : task.completedAt - task.startedAt
    this.#tell(`${glyph} ${task.id} ${word}${why} (${duration(took)})`, task.error !== undefined)
  }

  close(): void {
    this.#endLine()
    this.#status.close()
  }

  /** Why a task did not complete is no hint. A program that wants none has it on stdout. */
  #tell(text: string, isError: boolean): void {
    const { around, show, global } = this.#cli
    if (isError && global.quiet && !global.json) around.err(`${oneLine(text)}\n`)
    else show.notice(text)
  }

  #printResult(task: Task): void {
    const { json } = this.#cli.global
    if (this.#shows === 'json' || task.result === undefined) return
    if (json || (this.#shows === 'text' && this.#hasSaid)) return
    const text = typeof task.result === 'string' ? plainText(task.result) : jsonText(task.result)
    this.#status.out(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Nothing that is typed here reaches it. */
  #ask({ id, text, options }: Question): void {
    const { start, around } = this.#cli
    this.aside(`  ? ${text}${optionsText(options)}`)
    const elsewhere = `  (in another terminal; or Ctrl-C, then ${start} attach ${shellWord(this.#task.thread)})`
    this.aside(`  Answer it: ${start} answer ${id} TEXT${around.isTty.err ? elsewhere : ''}`)
  }

  #say(text: string): void {
    if (this.#shows !== 'text') return
    const plain = plainText(text)
    if (plain === '') return
    this.#hasSaid = true
    this.#status.out(plain)
    this.#isLineOpen = !plain.endsWith('\n')
  }

  #endLine(): void {
    if (this.#isLineOpen) this.#status.out('\n')
    this.#isLineOpen = false
  }

  #statusText(): string {
    const { id, status, progress, position } = this.#task
    const passed = age(this.#cli.around.clock.now() - this.#since)
    const waits = status === 'pending' && position !== undefined && position > 0 ? `behind ${position}` : ''
    const bar = progress === undefined ? '' : progressBar(progress)
    const doing = this.#questions.size > 0 ? 'waits for an answer' : oneLine(this.#doing)
    return [id, statusWord(this.#task).word, waits, passed, bar, doing].filter((part) => part).join(' ')
  }
}
