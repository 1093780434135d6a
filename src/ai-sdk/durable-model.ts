import { gateway, type LanguageModel, wrapLanguageModel } from 'ai'
import type { AgentContext } from '../runtime/agent.ts'
import type { Flights } from './flights.ts'
import { ModelEvents } from './model-events.ts'
import { failureError, modelFailure } from './model-failure.ts'
import { Outlet } from './outlet.ts'
import type { ModelPrompt, StreamCall, StreamResult } from './stream-part.ts'
import { recordedParts, type StreamRecord, StreamRecorder } from './stream-record.ts'

export interface ModelRun {
  readonly ctx: AgentContext
  readonly flights: Flights
  /** What a model is told besides the conversation, at the call it is told it. */
  readonly note: () => string | undefined
}

type ModelObject = Exclude<LanguageModel, string>

/**
 * A model whose calls are steps.
 *
 * M1 A call and all it emits stand or fall with its record; a recorded one is answered from it, and nobody is asked.
 * M2 A call that failed is recorded as well, so that the SDK comes to the same retries on replay. One that was cut off because
 *    the task was stopped is not.
 * M3 The step is given a digest of the prompt: a record answers only for what was asked.
 */
export function durableModel(run: ModelRun, given: LanguageModel): LanguageModel {
  const model = typeof given === 'string' ? namedModel(given) : given
  return wrapLanguageModel({
    model,
    middleware: {
      transformParams: async ({ params }) => ({ ...params, prompt: withNote(params.prompt, run.note()) }),
      wrapStream: (call) => modelCall(run, call),
    },
  })
}

/** As the SDK itself finds a model that is given by its name. */
function namedModel(name: string): ModelObject {
  const { AI_SDK_DEFAULT_PROVIDER: provider = gateway } = globalThis as {
    readonly AI_SDK_DEFAULT_PROVIDER?: { languageModel(id: string): ModelObject }
  }
  return provider.languageModel(name)
}

function modelCall(run: ModelRun, call: StreamCall): Promise<StreamResult> {
  const { ctx, flights } = run
  const attempt = new Attempt(ctx, call)
  const taken = ctx.step('model', () => attempt.perform(), { input: promptText(call.params.prompt) })
  const answered = taken.then(
    (record) => attempt.answer(record),
    (error: unknown) => attempt.outlet.fail(error),
  )
  void flights.add(answered)
  return attempt.outlet.opened
}

/** One call of a model: performed, or answered from its record. */
class Attempt {
  readonly outlet: Outlet
  readonly #ctx: AgentContext
  readonly #call: StreamCall
  readonly #recorder = new StreamRecorder()
  #reader: ReadableStreamDefaultReader<unknown> | undefined
  #isPerformed = false
  #isLeft = false
  #error: unknown

  constructor(ctx: AgentContext, call: StreamCall) {
    this.#ctx = ctx
    this.#call = call
    this.outlet = new Outlet(() => {
      this.#isLeft = true
      // The stream may have broken by itself, which is nothing to tell whoever has left.
      this.#reader?.cancel().catch(() => {})
    })
  }

  async perform(): Promise<StreamRecord> {
    this.#isPerformed = true
    try {
      await this.#read()
    } catch (error) {
      // M2.
      if (this.#ctx.signal.aborted) throw error
      this.#error = error
      return { parts: [], failure: { ...modelFailure(error), isBegun: this.#reader !== undefined } }
    }
    return this.#recorder.record()
  }

  answer(record: StreamRecord): void {
    const { outlet } = this
    const { failure } = record
    if (this.#isPerformed) return failure ? outlet.fail(this.#error) : outlet.finish()
    if (!failure) return outlet.finish(recordedParts(record))
    if (failure.isBegun) outlet.open()
    outlet.fail(failureError(failure))
  }

  async #read(): Promise<void> {
    const result = await this.#call.doStream()
    const events = new ModelEvents(this.#ctx)
    const reader = result.stream.getReader()
    this.#reader = reader
    this.outlet.open(result)
    for (;;) {
      const { done, value: part } = await reader.read()
      if (this.#isLeft) throw new Error('The answer of the model was no longer read')
      if (done) return
      const room = events.tell(part)
      if (room) await room
      this.#recorder.add(part)
      this.outlet.push(part)
    }
  }
}

function withNote(prompt: ModelPrompt, note: string | undefined): ModelPrompt {
  if (note === undefined) return prompt
  const [first, ...rest] = prompt
  if (first?.role !== 'system') return [{ role: 'system', content: note }, ...prompt]
  return [{ ...first, content: `${first.content}\n\n${note}` }, ...rest]
}

function promptText(prompt: ModelPrompt): string {
  return JSON.stringify(prompt, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )
}
