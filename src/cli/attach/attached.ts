import {
  type AttachItem,
  type Client,
  createThreadView,
  reduceView,
  type TaskId,
  type ThreadView,
} from '../../client/index.ts'
import type { Cli } from '../command.ts'
import { errorMessage } from '../error-message.ts'
import { exitCodes } from '../exit-code.ts'
import { isEvent } from '../live/log-events.ts'
import type { LogTarget } from '../live/log-target.ts'
import { eachFrame, spinnerFrame } from '../show/status-line.ts'
import { ConversationScreen } from './conversation-screen.ts'
import { listenToKeys } from './keyboard.ts'
import { type Leaving, type LeavingInput, leave, secondThoughtMs } from './leaving.ts'
import { emptyLine, type Key, type Line, press } from './line-editor.ts'
import { orderOf } from './order.ts'
import { perform } from './perform.ts'
import { statusText, workOf } from './thread-status.ts'
import { Transcript } from './transcript.ts'

export interface AttachedOptions extends LogTarget {
  /** Who answers what is typed; the agent of the last run unless given. */
  readonly agent?: string
}

/** A thread on a terminal: what happens in it above, a line to type on below. Leaving it cancels nothing, unless asked to. */
export class Attached {
  readonly #cli: Cli
  readonly #client: Client
  readonly #options: AttachedOptions
  readonly #screen: ConversationScreen
  readonly #transcript: Transcript
  readonly #detached = new AbortController()
  readonly #gone = Promise.withResolvers<void>()
  #view: ThreadView = createThreadView()
  #line: Line = emptyLine
  #leaving: Leaving = { is: 'attached' }
  /** Whether the next snapshot is something new to the person. */
  #isSnapshotNews = true

  constructor(cli: Cli, client: Client, options: AttachedOptions) {
    this.#cli = cli
    this.#client = client
    this.#options = options
    const { out, columns } = cli.around
    this.#screen = new ConversationScreen(out, columns)
    const meant = options.task && { task: options.task.id }
    this.#transcript = new Transcript({ screen: this.#screen, style: cli.show.style, columns, ...meant })
  }

  note(text: string): void {
    if (this.#leaving.is === 'attached') this.#transcript.note(text)
  }

  /** Resolves when the person has left. */
  async run(): Promise<number> {
    const { around, signal } = this.#cli
    const stopFrames = eachFrame(around.clock, () => this.#drawFooter())
    const interrupt = () => this.#interrupt()
    const stopKeys = listenToKeys(around.input, (key) => this.#press(key), interrupt)
    const end = () => this.#leave({ type: 'key', text: '' })
    signal.addEventListener('abort', end, { once: true })
    try {
      this.#drawFooter()
      await this.#follow(AbortSignal.any([signal, this.#detached.signal]))
      if (!signal.aborted) await this.#gone.promise
      if (this.#leaving.is === 'gone' && this.#leaving.cancels) await this.#cancel()
      return exitCodes.ok
    } finally {
      signal.removeEventListener('abort', end)
      stopFrames()
      if (this.#leaving.is === 'attached') this.#screen.close()
      stopKeys()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const item of this.#client.thread(this.#options.thread).attach({ signal })) {
      this.#take(item)
      this.#drawFooter()
    }
  }

  #take(item: AttachItem): void {
    this.#view = reduceView(this.#view, item)
    if (isEvent(item)) return this.#transcript.event(item, this.#view)
    // The notice itself comes through the client's own, as do those about the connection.
    if (item.type === 'notice') this.#isSnapshotNews = true
    else if (this.#isSnapshotNews) {
      this.#isSnapshotNews = false
      this.#transcript.snapshot(item)
    }
  }

  #press(key: Key): void {
    if (this.#leaving.is !== 'attached') {
      if (key.ctrl && key.name === 'c') return this.#interrupt()
      return this.#leave({ type: 'key', text: key.sequence ?? '' })
    }
    const [line, action] = press(this.#line, key)
    this.#line = line
    if (action?.do === 'submit') void this.#submit(action.text)
    else if (action) return this.#interrupt()
    this.#drawFooter()
  }

  async #submit(text: string): Promise<void> {
    const order = orderOf(text, this.#view.questions)
    if (order.do === 'detach') return this.#interrupt()
    const { thread, task, agent } = this.#options
    const { signal, start } = this.#cli
    const conversation = { client: this.#client, thread, view: this.#view, task: task?.id, agent, start, signal }
    try {
      const { notes, accepted } = await perform(order, conversation)
      for (const note of notes) this.note(note)
      if (accepted) this.#view = reduceView(this.#view, { type: 'task', task: accepted })
    } catch (error) {
      this.note(errorMessage(error))
    }
  }

  #interrupt(): void {
    const { clock } = this.#cli.around
    this.#leave({ type: 'interrupt', at: clock.now(), hasWork: this.#work !== undefined })
  }

  #leave(input: LeavingInput): void {
    const before = this.#leaving.is
    this.#leaving = leave(this.#leaving, input)
    const now = this.#leaving.is
    if (before === 'attached' && now !== 'attached') this.#detach()
    if (before !== 'asking' && now === 'asking') this.#cli.around.err(`Cancel ${this.#work} and all under it? (y/N) `)
    if (before === 'asking' && now === 'gone') this.#cli.around.err('\n')
    if (now === 'gone') this.#gone.resolve()
  }

  #detach(): void {
    const { show, around, start } = this.#cli
    const { thread, task } = this.#options
    this.#screen.close()
    this.#detached.abort()
    const work = this.#work
    show.notice(
      `Detached${work === undefined ? '' : `; ${work} goes on`}. Come back: ${start} attach ${task?.id ?? thread}`,
    )
    if (work === undefined) return
    show.notice('Ctrl-C again within 2 s asks whether to cancel it; any other key leaves at once')
    const timer = around.clock.setTimer(secondThoughtMs, () => this.#leave({ type: 'due', at: around.clock.now() }))
    void this.#gone.promise.then(() => timer.cancel())
  }

  async #cancel(): Promise<void> {
    const work = this.#work
    if (work === undefined) return
    const cancelled = await this.#client.cancel(work, { signal: this.#cli.signal })
    this.#cli.show.notice(cancelled.length > 0 ? `Cancelled ${cancelled.join(', ')}` : `${work} had already ended`)
  }

  get #work(): TaskId | undefined {
    return workOf(this.#view, this.#options.task?.id)?.id
  }

  #drawFooter(): void {
    if (this.#leaving.is !== 'attached') return
    const { before, after } = this.#line
    const now = this.#cli.around.clock.now()
    const connection = this.#client.connection.snapshot()
    const { task, thread } = this.#options
    // Before its first snapshot nothing is known of the thread.
    const status = this.#isSnapshotNews
      ? `${spinnerFrame(now)} attaching to ${thread}`
      : statusText(this.#view, now, connection, task?.id)
    this.#screen.footer({ status, prompt: '❯ ', before, after })
  }
}
