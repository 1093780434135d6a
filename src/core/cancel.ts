import { acceptInto, type TaskRequest } from './accept.ts'
import { type CancelReason, cancelTask, endBeforeStart } from './cancel-task.ts'
import type { Decision, Surroundings } from './decision.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { settle } from './settle.ts'
import { isRun, type TaskRecord } from './task.ts'
import { attachedTree } from './tree.ts'
import { UnitDraft } from './unit-draft.ts'

/** What a cancel reaches. `runs`: the active run with its attached tree, and every run accepted before now. */
export type CancelScope =
  | { readonly kind: 'task'; readonly task: TaskId }
  | { readonly kind: 'tree'; readonly task: TaskId }
  | { readonly kind: 'runs' }
  | { readonly kind: 'all' }

/** Cancels what is in reach and answers with all of it that had not ended, also what was being cancelled already. */
export function cancel(
  live: LiveThread,
  around: Surroundings,
  scope: CancelScope,
  why: CancelReason,
): Decision<TaskId[]> {
  const draft = new UnitDraft(live, around, 'cancel')
  const reached = cancelInto(draft, scope, why)
  if (draft.isEmpty) return { value: reached }
  settle(draft)
  return { unit: draft.build(), value: reached }
}

/** Adds a cancel to a unit: a root first, then its tree, then the queue in order. */
export function cancelInto(draft: UnitDraft, scope: CancelScope, why: CancelReason): TaskId[] {
  const targets = reach(draft.live, scope)
  for (const target of targets) cancelTask(draft, target, why)
  const isWhole = scope.kind === 'runs' || scope.kind === 'all'
  const steered = isWhole ? cancelSteering(draft, why) : []
  return [...targets.map((target) => target.id), ...steered]
}

function reach(live: LiveThread, scope: CancelScope): TaskRecord[] {
  switch (scope.kind) {
    case 'task':
    case 'tree': {
      const record = live.task(scope.task)
      if (!record) return []
      return scope.kind === 'task' ? [record] : attachedTree(live, record)
    }
    case 'runs':
      return live.runs().flatMap((run) => attachedTree(live, run))
    case 'all':
      return rootsFirst(live)
  }
}

function rootsFirst(live: LiveThread): TaskRecord[] {
  const runs = live.runs()
  const queued = new Set(runs.filter((run) => run.status === 'pending').flatMap((run) => attachedTree(live, run)))
  const active = [...live.tasks()].filter((task) => !isRun(task) && !queued.has(task))
  return [...runs.filter((run) => run.status === 'running'), ...active.sort((a, b) => a.depth - b.depth), ...queued]
}

/** Steering that nobody has read is accepted as the run it would become, and cancelled with the rest. */
function cancelSteering(draft: UnitDraft, why: CancelReason): TaskId[] {
  const cancelled: TaskId[] = []
  for (const run of draft.live.runs()) {
    for (const mail of draft.live.mailOf(run.id)) {
      if (mail.steer === undefined) continue
      const record = acceptInto(draft, JSON.parse(mail.steer) as TaskRequest, mail.place, mail.id)
      draft.readMail(mail.id)
      endBeforeStart(draft, record, why)
      cancelled.push(record.id)
    }
  }
  return cancelled
}
