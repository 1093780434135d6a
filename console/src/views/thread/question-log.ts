import type { Question, QuestionEvent } from 'holdfast/client'
import type { Asked } from './transcript.ts'

/** The events that tell what became of questions; they are read from the log, for a snapshot has the open ones only. */
export const questionTypes = ['question.asked', 'question.answered', 'question.closed'] as const

/** Questions in the order in which they were asked, by their ids. */
export type QuestionLog = ReadonlyMap<string, Asked>

export function withQuestionEvents(log: QuestionLog, events: readonly QuestionEvent[]): QuestionLog {
  const next = new Map(log)
  for (const event of events) {
    if (event.type === 'question.asked') {
      const { question } = event.data
      if (!next.has(question.id)) next.set(question.id, { question })
      continue
    }
    const asked = next.get(event.data.id)
    if (!asked) continue
    if (event.type === 'question.answered') {
      const { answer, by } = event.data
      next.set(event.data.id, { question: asked.question, end: { answer, by } })
    } else next.set(event.data.id, { question: asked.question, end: { closed: event.data.reason } })
  }
  return next
}

/**
 * The log is read after the open ones are known to have changed. Until then the open ones win: one that is no longer among
 * them is over, though it is not known how.
 */
export function questionsOf(log: QuestionLog, open: readonly Question[]): Asked[] {
  const openIds = new Set(open.map(({ id }) => id))
  const known = [...log.values()].map((asked): Asked => {
    if (asked.end || openIds.has(asked.question.id)) return asked
    return { question: asked.question, end: { closed: 'ended' } }
  })
  return [...known, ...open.filter(({ id }) => !log.has(id)).map((question) => ({ question }))]
}
