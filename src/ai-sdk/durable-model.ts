import { gateway, type LanguageModel, wrapLanguageModel } from 'ai'
import type { AgentContext } from '../runtime/agent.ts'
import { ModelEvents, type ProvidedCalls } from './model-events.ts'
import { failureError, modelFailure } from './model-failure.ts'
import type { OpenCalls } from './open-calls.ts'
import { Outlet } from './outlet.ts'
import type { ModelPrompt, StreamCall, StreamResult } from './stream-part.ts'
import { recordedParts, type StreamRecord, StreamRecorder } from './stream-record.ts'

export interface ModelSurroundings {
  readonly ctx: AgentContext
  readonly openCalls: OpenCalls
  readonly provided: ProvidedCalls
  /** What a model is told besides the conversation, at the call it is told it. */
  readonly note: () => string | undefined
}

type ModelObject = Exclude<LanguageModel, string>

/**
 * A model whose calls are steps.
 *
 * M1 A call and all it emits stand or fall with its record; a recorded one is answered from it, and nobody is asked.
 * M2 A call that failed is recorded as well, so that the SDK comes to the same retries on replay. One that was cut off
 *    because the task was stopped is not.
 * M3 The step is given a digest of the prompt: a record answers only for what was asked.
 */
export function durableModel(around: ModelSurroundings, given: LanguageModel): LanguageModel {
  const model = typeof given === 'string' ? namedModel(given) : given
  return wrapLanguageModel({
    model,
    middleware: {
      transformParams: async ({ params }) => ({ ...params, prompt: withNote(params.prompt, around.note()) }),
      wrapStream: (call) => callModel(around, call),
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

function callModel({ ctx, openCalls, provided }: ModelSurroundings, asked: StreamCall): Promise<StreamResult> {
  const call = new ModelCall(ctx, asked, new ModelEvents(ctx, provided))
  const taken = ctx.step('model', () => call.perform(), { input: promptText(asked.params.prompt) })
  const answered = taken.then(
    (record) => call.answer(record),
    (error: unknown) => call.outlet.fail(error),
  )
  void openCalls.add(answered)
  return call.outlet.opened
}

/** One call of a model: performed, or answered from its record. */
class ModelCall {
  readonly outlet: Outlet
  readonly #ctx: AgentContext
  readonly #asked: StreamCall
  readonly #events: ModelEvents
  readonly #recorder = new StreamRecorder()
  #reader: ReadableStreamDefaultReader<unknown> | undefined
  #isPerformed = false
  #isLeft = false
  #error: unknown

  constructor(ctx: AgentContext, asked: StreamCall, events: ModelEvents) {
    this.#ctx = ctx
    this.#asked = asked
    this.#events = events
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
    if (!failure) {
      const parts = recordedParts(record)
      for (const part of parts) this.#events.meet(part)
      return outlet.finish(parts)
    }
    if (failure.isBegun) outlet.open()
    outlet.fail(failureError(failure))
  }

  async #read(): Promise<void> {
    const result = await this.#asked.doStream()
    const reader = result.stream.getReader()
    this.#reader = reader
    this.outlet.open(result)
    for (;;) {
      const { done, value: part } = await reader.read()
      if (this.#isLeft) throw new Error('The answer of the model was no longer read')
      if (done) return
      const room = this.#events.tell(part)
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
