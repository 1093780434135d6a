import type { Client, QuestionEvent } from 'holdfast/client'
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
        const options = { after: after.current, types: questionTypes, limit: 1000, signal: leaving.signal }
        const { events, next, head } = await client.events(thread, options)
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
