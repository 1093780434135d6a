import { acceptInto, type TaskRequest } from './accept.ts'
import { resultText } from './result.ts'
import { isTerminal } from './status.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { UnitDraft } from './unit-draft.ts'

// A thread that only ever wakes itself is a loop nobody asked for.
const wakesMax = 8

/**
 * What follows from a task having ended, in the same unit: steering that an ended run never read becomes a run,
 * the next run of the queue may start, and untaken results wake an idle thread.
 */
export function settle(draft: UnitDraft): void {
  for (const record of draft.endedHere()) {
    if (!isRun(record)) continue
    becomeRuns(draft, record)
    if (record.status === 'cancelled') disarm(draft, record)
  }
  promote(draft)
  wake(draft)
}

function becomeRuns(draft: UnitDraft, ended: TaskRecord): void {
  for (const mail of draft.live.mailOf(ended.id)) {
    if (mail.steer === undefined || draft.isRead(mail.id)) continue
    acceptInto(draft, JSON.parse(mail.steer) as TaskRequest, mail.place, mail.id)
    draft.readMail(mail.id)
  }
}

/** A cancelled run wakes nobody: its detached tasks keep running, and their results wait to be collected. */
function disarm(draft: UnitDraft, run: TaskRecord): void {
  for (const record of [...draft.tasks(), ...draft.ended()]) {
    if (record.wakeRun !== run.id) continue
    const { wake: _disarmed, wakeRun: _cancelled, ...rest } = record
    draft.put(rest)
  }
}

function promote(draft: UnitDraft): void {
  const next = draft.runs()[0]
  if (next?.status === 'pending' && !next.ready) draft.put({ ...next, ready: true })
}

function wake(draft: UnitDraft): void {
  if (draft.wakes >= wakesMax || draft.runs().length > 0) return
  const armed = draft.ended().filter((record) => record.wake !== undefined && !isToBeRead(draft, record))
  const agent = armed[0]?.wake
  if (agent === undefined) return
  const results = armed.filter((record) => record.wake === agent)
  for (const record of results) draft.take(record.id)
  draft.wakes += 1
  acceptInto(draft, wakeRequest(agent, results))
}

/** The end of a task is its parent's to read as long as that is live. */
function isToBeRead(draft: UnitDraft, { parent }: TaskRecord): boolean {
  const reader = parent?.task === undefined ? undefined : draft.task(parent.task)
  return reader !== undefined && !isTerminal(reader.status)
}

function wakeRequest(agent: string, results: readonly TaskRecord[]): TaskRequest {
  const ids = results.map((record) => record.id)
  return {
    type: 'run',
    agent,
    description: `Results of ${ids.join(', ')}`,
    asked: 'wake',
    input: `[${results.map(resultText).join(',')}]`,
    inbox: true,
    onResult: 'wake',
    metadata: JSON.stringify({ wakes: ids }),
  }
}
