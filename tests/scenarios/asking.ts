import type { AgentContext, Question, QuestionAnswer, QuestionOptions, Runtime } from '../../src/index.ts'
import { eventsUntil } from './world.ts'

/** Asks what its input says, and gives back what came of it. */
export async function asker(ctx: AgentContext, question: QuestionOptions): Promise<QuestionAnswer> {
  return ctx.ask(question)
}

/** The n-th question of a thread, once it is in the log. */
export async function questionIn(runtime: Runtime, thread: string, nth = 1): Promise<Question> {
  let count = 0
  const events = await eventsUntil(runtime, { thread }, (event) => {
    count += Number(event.type === 'question.asked')
    return count === nth
  })
  const last = events.at(-1)
  if (last?.type !== 'question.asked') throw new Error('There is no such question')
  return last.data.question
}
