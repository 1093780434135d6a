import type { AgentContext } from '../runtime/agent.ts'

/**
 * What becomes of a tool call that was begun and whose end is not recorded, because the process died in between: it is
 * called again (for tools whose repetition does no harm), people are asked, or it fails, which the model is told.
 */
export type AfterCrash = 'retry' | 'ask' | 'fail'

interface IntendedCall {
  readonly ctx: AgentContext
  readonly name: string
  readonly input: unknown
  readonly policy: AfterCrash
}

const again = 'run it again'
const done = 'it was done'
const undone = 'treat it as failed'

// Enough to recognise a call by; a question is read by people.
const inputLengthMax = 1000

/**
 * Writes down that a tool is about to be called, and says whether it was about to be before. Throws if it must not be
 * called again.
 *
 * The attempt that is recorded with the intent tells: another than this one did not live to record the end. Each crash is
 * asked about anew. A retry records no further intent, so a tool that kills its process three times in a row ends as
 * `poisoned`, not as a loop.
 */
export async function intend(call: IntendedCall): Promise<{ readonly isRepeated: boolean; readonly isDone?: true }> {
  const { ctx, policy } = call
  for (let isRepeated = false; ; isRepeated = true) {
    const attempt = await ctx.step('intent', () => ctx.attempt)
    if (attempt === ctx.attempt) return { isRepeated }
    if (policy === 'retry') return { isRepeated: true }
    const ruling = policy === 'fail' ? undone : await askPeople(call)
    if (ruling === done) return { isRepeated: true, isDone: true }
    if (ruling !== again) throw interrupted(call.name)
  }
}

async function askPeople({ ctx, name, input }: IntendedCall): Promise<unknown> {
  const text = `The process stopped while the tool ${name} was at work, and it is not known whether it had its effect. It was called with ${shortInput(input)}`
  const { answer } = await ctx.ask({ text, options: [again, done, undone] })
  return answer
}

/** The input of a call, for people. */
export function shortInput(input: unknown, lengthMax = inputLengthMax): string {
  const text = JSON.stringify(input) ?? 'nothing'
  if (text.length <= lengthMax) return text
  return `${text.slice(0, lengthMax)}… (${text.length - lengthMax} characters more)`
}

/** Told to the model, as any failure of a tool is. */
function interrupted(name: string): Error {
  return new Error(`The process stopped while the tool ${name} was at work; whether it had its effect is not known`)
}
