import { AsyncLocalStorage } from 'node:async_hooks'
import type { StreamPart, StreamResult } from './stream-part.ts'

/**
 * The stream that the SDK reads while a model step is performed, or once it is answered from its record.
 *
 * O1 Parts are handed on in the surroundings that the SDK asked from, never inside the step: what the SDK does about one,
 *    such as calling a tool, belongs to no model step.
 * O2 From the first part on that the SDK acts upon (a tool call, the finish), parts are held back until the step is
 *    recorded, so no tool is called for an answer that may still be asked for again.
 */
export class Outlet {
  readonly opened: Promise<StreamResult>
  readonly #outside = AsyncLocalStorage.snapshot()
  readonly #stream: StreamResult['stream']
  readonly #onCancel: () => void
  #open: (result: StreamResult) => void = () => {}
  #refuse: (error: unknown) => void = () => {}
  #controller: ReadableStreamDefaultController<StreamPart> | undefined
  #held: StreamPart[] | undefined
  #isOpen = false
  #isOver = false

  constructor(onCancel: () => void) {
    this.#onCancel = onCancel
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve
      this.#refuse = reject
    })
    this.#stream = new ReadableStream<StreamPart>({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => {
        this.#isOver = true
        this.#onCancel()
      },
    })
  }

  /** Hands the stream over; what comes with the model's answer besides its parts goes along. */
  open(result?: StreamResult): void {
    this.#isOpen = true
    this.#open({ ...result, stream: this.#stream })
  }

  push(part: StreamPart): void {
    if (this.#held) this.#held.push(part)
    else if (isActedUpon(part)) this.#held = [part]
    else this.#handOn(part)
  }

  /** The step is recorded. Given the parts of a record, those are the answer. */
  finish(recorded: readonly StreamPart[] = this.#held ?? []): void {
    if (!this.#isOpen) this.open()
    for (const part of recorded) this.#handOn(part)
    if (!this.#isOver) this.#outside(() => this.#controller?.close())
    this.#isOver = true
  }

  /** The call failed: it is refused if the stream was not handed over yet, else the stream breaks. */
  fail(error: unknown): void {
    if (!this.#isOpen) return this.#refuse(error)
    if (!this.#isOver) this.#outside(() => this.#controller?.error(error))
    this.#isOver = true
  }

  #handOn(part: StreamPart): void {
    if (!this.#isOver) this.#outside(() => this.#controller?.enqueue(part))
  }
}

function isActedUpon({ type }: StreamPart): boolean {
  return type === 'tool-call' || type === 'tool-approval-request' || type === 'finish' || type === 'error'
}
