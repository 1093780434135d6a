import { acceptInto, type TaskRequest } from './accept.ts'
import { wakeBytesMax, wakeResultsMax } from './live-part.ts'
import { resultBytes, resultText } from './result.ts'
import { isTerminal } from './status.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { UnitDraft } from './unit-draft.ts'

// A thread that only ever wakes itself is a loop nobody asked for.
const wakesMax = 8

/**
 * Starts a run for results that are there and want one, if no run of the thread is live. Those that were asked to wake the
 * thread choose the agent; with them it takes what nobody else took or may yet read, but for what wakes another agent.
 */
export function wake(draft: UnitDraft): void {
  if (draft.wakes >= wakesMax || draft.runs().length > 0) return
  const free = draft.ended().filter((record) => !isRun(record) && !isToBeRead(draft, record))
  const agent = free.find((record) => record.wake !== undefined)?.wake
  if (agent === undefined) return
  const armed = free.filter((record) => record.wake === agent)
  const others = [...draft.untaken(), ...free.filter((record) => record.wake === undefined)]
  const results = [...armed, ...fitting(inOrder(others), armed)]
  for (const record of results) draft.take(record.id)
  draft.wakes += 1
  acceptInto(draft, wakeRequest(agent, inOrder(results)))
}

/** The end of a task is its parent's to read as long as that is live. */
function isToBeRead(draft: UnitDraft, { parent }: TaskRecord): boolean {
  const reader = parent?.task === undefined ? undefined : draft.task(parent.task)
  return reader !== undefined && !isTerminal(reader.status)
}

function fitting(others: readonly TaskRecord[], armed: readonly TaskRecord[]): TaskRecord[] {
  let bytes = armed.reduce((sum, record) => sum + resultBytes(record), 0)
  const fit: TaskRecord[] = []
  for (const record of others) {
    if (bytes >= wakeBytesMax || armed.length + fit.length >= wakeResultsMax) break
    fit.push(record)
    bytes += resultBytes(record)
  }
  return fit
}

function inOrder(results: readonly TaskRecord[]): TaskRecord[] {
  return results.toSorted((a, b) => (a.endPlace ?? 0) - (b.endPlace ?? 0))
}

// Enough to know it by in a list; all of them are in its metadata.
const describedMax = 3

function wakeRequest(agent: string, results: readonly TaskRecord[]): TaskRequest {
  const ids = results.map((record) => record.id)
  const more = ids.length > describedMax ? ` and ${ids.length - describedMax} more` : ''
  return {
    type: 'run',
    agent,
    description: `Results of ${ids.slice(0, describedMax).join(', ')}${more}`,
    asked: 'wake',
    input: `[${results.map(resultText).join(',')}]`,
    inbox: true,
    onResult: 'wake',
    metadata: JSON.stringify({ wakes: ids }),
  }
}
