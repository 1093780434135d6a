import { type AskEnd, type AskedQuestion, type Asking, ask } from '../core/ask.ts'
import { HoldfastError } from '../core/errors.ts'
import { encodeKey } from '../core/step.ts'
import type { QuestionAnswer, QuestionOptions } from './agent.ts'
import { encodable } from './checked-emits.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import { executing } from './entry.ts'
import { closedError } from './execution.ts'
import { newQuestionId } from './questions.ts'
import { named, type StepName } from './step-taker.ts'
import type { OpenStep } from './steps.ts'
import { type WaitParts, within } from './waits.ts'

export interface AskParts extends WaitParts {
  /** Which step of this attempt waits for which question, by its id. */
  readonly askers: Map<string, string>
}

/**
 * Asks people, and waits for the answer without a slot. Question and step are found by the same key: a task that goes on
 * after a crash finds what it asked, and what came of it, and asks nothing twice.
 */
export async function askPeople(parts: AskParts, options: QuestionOptions): Promise<QuestionAnswer> {
  const asked = checkedQuestion(options)
  const end = await parts.taker.takeRaw(nameOf(options.key, asked), (step) => ended(parts, step, asked))
  // Thrown outside the step: that nobody answered is recorded as what came of it, and thrown again on replay.
  if ('unanswered' in end) throw new HoldfastError('unanswered', `Nobody answered in time: ${asked.text.slice(0, 200)}`)
  return end
}

type CheckedQuestion = ReturnType<typeof checkedQuestion>

async function ended(parts: AskParts, step: OpenStep, asked: CheckedQuestion): Promise<AskEnd> {
  const { execution, signals, taker } = parts
  const id = newQuestionId()
  for (;;) {
    execution.signal.throwIfAborted()
    const listener = signals.listen(`questions:${execution.task}`)
    try {
      const asking = await look(parts, step, { ...asked, id, stepKey: step.path })
      if ('end' in asking) return asking.end
      const { expiresAt } = asking.open
      if (expiresAt === undefined) await taker.wait(listener.heard)
      else await within(parts, expiresAt, listener.heard)
    } finally {
      listener.stop()
    }
  }
}

/** Asks if that was not done before, and says how things stand. */
async function look(parts: AskParts, step: OpenStep, asked: AskedQuestion): Promise<Asking> {
  const { execution, writer, taker, store, askers } = parts
  const { task, epoch } = execution
  if (execution.isClosed) throw closedError(execution)
  const isOthers = (id: string) => (askers.get(id) ?? step.path) !== step.path
  const given = { ...asked, isOthers, ...(step.input !== undefined && { input: step.input }) }
  const done = await writer.change(
    executing(execution, 'ask', (live, around) => {
      const record = (value: string) => taker.recordOf(step, value)
      const decision = ask(live, around, { task, epoch }, given, store.clock.now(), record)
      // Noted here, because the next decision of the same batch must know it; decided again, it comes to the same.
      if (decision.value && 'open' in decision.value) askers.set(decision.value.open.id, step.path)
      return decision
    }),
  )
  if ('refusal' in done || !done.value) throw closedError(execution)
  return done.value
}

/** A key of the agent's own stands for the question whatever it says; otherwise what is asked tells it from others. */
function nameOf(key: string | undefined, asked: CheckedQuestion): StepName {
  if (key === undefined) return { ...named('ask'), input: digest(JSON.stringify(asked)) }
  encodeKey(key)
  return named('ask', key)
}

function checkedQuestion({ text, options, timeoutMs, default: fallback }: QuestionOptions) {
  if (typeof text !== 'string' || text === '') throw invalid('The text of a question is a string that says something')
  if (options !== undefined) checkOptions(options)
  if (timeoutMs !== undefined && !isDuration(timeoutMs))
    throw invalid('timeoutMs is a number of milliseconds from 0 on')
  if (options && fallback !== undefined && !options.includes(fallback as string)) {
    throw invalid('The default of a question is one of its options')
  }
  return {
    text,
    ...(options && { options: [...options] }),
    ...(timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY && { timeoutMs: Math.ceil(timeoutMs) }),
    ...(fallback !== undefined && { default: encode(encodable('The default', fallback), whole) }),
  }
}

// How large it may be with all that belongs to it is decided where it is put into an event.
const whole = { what: 'The default', bytesMax: Number.POSITIVE_INFINITY }

function checkOptions(options: readonly string[]): void {
  const isList = Array.isArray(options) && options.length > 0 && options.every((option) => typeof option === 'string')
  if (!isList) throw invalid('The options of a question are a list of one string or more')
}

// Beyond it an instant is no date any more.
const durationMsMax = 8_640_000_000_000_000 / 2

function isDuration(ms: number): boolean {
  return typeof ms === 'number' && (ms === Number.POSITIVE_INFINITY || (ms >= 0 && ms <= durationMsMax))
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
