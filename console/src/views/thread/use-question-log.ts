import { type Client, isHoldfastError, type QuestionEvent } from 'holdfast/client'
import type { UseThreadResult } from 'holdfast/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type QuestionLog, questionsOf, questionTypes, withQuestionEvents } from './question-log.ts'
import type { Asked } from './transcript.ts'

type LiveThread = Pick<UseThreadResult, 'questions' | 'first' | 'isLoading'>

/**
 * All questions of a thread with their ends. What is open is always known; what became of the others is read from the log
 * when the page opens, and again whenever the open ones change, which is when there is more to read.
 */
export function useQuestionLog(client: Client, thread: string, view: LiveThread): Asked[] {
  const { questions: open, first, isLoading } = view
  const [log, setLog] = useState<QuestionLog>(() => new Map())
  const after = useRef(0)
  const openIds = open.map(({ id }) => id).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the open ones is the reason to read.
  useEffect(() => {
    if (isLoading) return
    const leaving = new AbortController()
    const read = async () => {
      // What is before the first event that is kept cannot be asked for.
      after.current = Math.max(after.current, first - 1)
      for (;;) {
        const { events, next, head } = await pageAfter(client, thread, after.current, leaving.signal)
        if (leaving.signal.aborted) return
        after.current = next
        setLog((before) => withQuestionEvents(before, events as readonly QuestionEvent[]))
        if (next >= head) return
      }
    }
    // Without the log the open ones are still shown, and the next change reads it again.
    read().catch(() => {})
    return () => leaving.abort()
  }, [client, thread, openIds, isLoading])
  return useMemo(() => questionsOf(log, open), [log, open])
}

/** The next page, or the first that is kept, if what came next was removed by age since the last was read. */
async function pageAfter(client: Client, thread: string, after: number, signal: AbortSignal) {
  const options = { types: questionTypes, limit: 1000, signal }
  try {
    return await client.events(thread, { ...options, after })
  } catch (error) {
    if (!isHoldfastError(error, 'offset_gone')) throw error
    return client.events(thread, { ...options, after: Number(error.facts['first']) - 1 })
  }
}
