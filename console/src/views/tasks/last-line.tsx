import type { Task } from 'holdfast/client'
import { useEvents } from 'holdfast/react'
import { useState } from 'react'
import { oneLine } from '../../design/one-line.ts'
import { useHasManyLines } from '../../live-lines.ts'
import { summaryOf } from '../task/event-summary.ts'

/** What happened last in a task, in one line. What has ended or waits tells that itself; of what runs the log is followed. */
export function LastLine({ task }: { readonly task: Task }) {
  const hasManyLines = useHasManyLines()
  if (task.status === 'running' && hasManyLines) return <FollowedLine task={task} />
  return <>{settledLine(task)}</>
}

function settledLine({ status, result, error, progress }: Task): string {
  if (status === 'pending') return 'waiting to start'
  if (error) return oneLine(error.message)
  if (status === 'completed') return oneLine(said(result) ?? '') || 'done'
  return progress === undefined ? 'running' : `${Math.round(progress * 100)} %`
}

/** What a script has said stands for itself. */
function said(result: unknown): unknown {
  const fields = typeof result === 'object' && result !== null ? Object.entries(result) : []
  const [only] = fields
  return fields.length === 1 && only?.[0] === 'said' ? only[1] : result
}

// Numbers of the thread, of which some are of other tasks.
const lookBack = 50

function FollowedLine({ task }: { readonly task: Task }) {
  // From a little before where the task was when it came on the screen, so that a text that streams in has a beginning.
  const [after] = useState(Math.max(0, task.seq - lookBack))
  const { events } = useEvents(task.thread, { task: task.id, after })
  const last = events.at(-1)
  if (!last) return <>{settledLine(task)}</>
  if (last.type !== 'text.delta') return <>{`${last.type} ${summaryOf(last)}`}</>
  return <>{`“${lastWords(events)}”`}</>
}

// As much as fits in a line.
const charactersMax = 120

/** Of a text that streams in, the end. */
function lastWords(events: ReturnType<typeof useEvents>['events']): string {
  let text = ''
  for (let at = events.length - 1; at >= 0 && text.length < charactersMax; at -= 1) {
    const event = events[at]
    if (event?.type !== 'text.delta') break
    text = `${event.data.text}${text}`
  }
  return oneLine(text.slice(-charactersMax))
}
