import { useMemo } from 'react'
import type { Question } from '../client/index.ts'
import type { QuestionListValue } from '../client/live/question-list.ts'
import { useClient, useModels } from './provider.ts'
import { useLive } from './use-live.ts'

/** The open questions, and how to answer one. */
export interface UseQuestionsResult extends QuestionListValue {
  answer(question: string, answer: unknown): Promise<Question>
  /** Reads again, after an error. */
  retry(): void
}

/** The open questions of the principal, or of one thread. */
export function useQuestions(thread?: string): UseQuestionsResult {
  const client = useClient()
  const models = useModels()
  const handle = useMemo(() => models.questionList(thread), [models, thread])
  const value = useLive(handle)
  return useMemo(
    () => ({
      ...value,
      answer: (question, answer) => client.answer(question, answer),
      retry: () => handle.current?.live.retry(),
    }),
    [value, handle, client],
  )
}
