import { acceptInto, type TaskRequest } from './accept.ts'
import { cancelTask, endBeforeStart } from './cancel-task.ts'
import type { Decision, Surroundings } from './decision.ts'
import { disarm } from './disarm.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { isQueued } from './position.ts'
import { settle } from './settle.ts'
import { type CancelReason, isRun, type TaskRecord } from './task.ts'
import { attachedTree, isRoot } from './tree.ts'
import type { Mail } from './unit.ts'
import { UnitDraft } from './unit-draft.ts'

/** A prompt to a run, with the request it becomes a run of. */
type SteerMail = Mail & { readonly steer: string }

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

/**
 * Adds a cancel to a unit: a root first, then its tree, then the queue in order, with the steering that nobody has read. Whoever
 * cancels all wants the thread still, so nothing that ended, or ends by this, wakes it.
 */
export function cancelInto(draft: UnitDraft, scope: CancelScope, why: CancelReason): TaskId[] {
  const isWhole = scope.kind === 'runs' || scope.kind === 'all'
  const steering = isWhole ? unreadSteering(draft.live) : []
  const reached: TaskId[] = []
  const trees = new Set<TaskId>()
  if (scope.kind === 'all') disarm(draft)
  for (const target of reach(draft.live, scope)) {
    const before = isQueued(target) ? steering.findIndex((mail) => mail.place > target.place) : 0
    const earlier = steering.splice(0, before === -1 ? steering.length : before)
    for (const mail of earlier) reached.push(cancelSteering(draft, mail, why))
    // A tree comes from its root down, so whoever is cancelled with a parent comes after it.
    const { parent, detached } = target
    cancelTask(draft, target, why, detached || parent?.task === undefined || !trees.has(parent.task))
    trees.add(target.id)
    reached.push(target.id)
  }
  for (const mail of steering) reached.push(cancelSteering(draft, mail, why))
  return reached
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
      return allTrees(live)
  }
}

/** Every root with its tree: the active run, what goes on beside it, then the queue in order. */
function allTrees(live: LiveThread): TaskRecord[] {
  const [active, queued] = [live.runs().filter((run) => !isQueued(run)), live.runs().filter(isQueued)]
  const beside = [...live.tasks()].filter((task) => !isRun(task) && isRoot(live, task))
  return [...active, ...beside, ...queued].flatMap((root) => attachedTree(live, root))
}

function unreadSteering(live: LiveThread): SteerMail[] {
  const mail = live.runs().flatMap((run) => [...live.mailOf(run.id)])
  return mail.filter(isSteering).sort((a, b) => a.place - b.place)
}

function isSteering(mail: Mail): mail is SteerMail {
  return mail.steer !== undefined
}

/** Steering that nobody has read is accepted as the run it would become, and cancelled with the rest. */
function cancelSteering(draft: UnitDraft, mail: SteerMail, why: CancelReason): TaskId {
  const record = acceptInto(draft, JSON.parse(mail.steer) as TaskRequest, mail.place, mail.id)
  draft.readMail(mail.id)
  endBeforeStart(draft, record, why)
  return record.id
}
