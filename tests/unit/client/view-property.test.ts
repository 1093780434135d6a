import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createThreadView, reduceView, type ThreadView } from '../../../src/client/index.ts'
import { tellsAll } from '../../../src/client/picture.ts'
import type { SnapshotItem, ThreadEvent } from '../../../src/client/thread-event.ts'
import { type Action, actions, perform } from '../../scenarios/random-actions.ts'
import type { Op, Work } from '../../scenarios/random-work.ts'
import { createWorld, logOf } from '../../scenarios/world.ts'

/**
 * What a client that attaches now and is given the log sees at the end. Where an event does not tell all, it is given the
 * next snapshot that there is.
 */
function viewFrom(snapshot: SnapshotItem, log: readonly ThreadEvent[], later: readonly SnapshotItem[]): ThreadView {
  let view = reduceView(createThreadView(), snapshot)
  let picture = snapshot.head
  for (const event of log.filter(({ seq }) => seq > snapshot.head)) {
    view = reduceView(view, event)
    const newer = tellsAll(event, picture) ? undefined : later.find(({ head }) => head >= event.seq)
    if (!newer) continue
    view = reduceView(view, newer)
    picture = newer.head
  }
  return view
}

/** The epoch of a task that was taken over is in the log only from its resume on. */
function comparable({ tasks, queue, ...rest }: ThreadView) {
  const without = [...tasks.values()].map(({ epoch: _epoch, ...task }) => task)
  return {
    ...rest,
    tasks: without.toSorted((a, b) => a.id.localeCompare(b.id)),
    queue: queue.map(({ id, position }) => ({ id, position })),
  }
}

/** A text that is answered and one that is said look the same in a snapshot. */
function plain(action: Action): Action {
  return 'work' in action ? { ...action, work: { ...action.work, ops: plainOps(action.work.ops) } } : action
}

function plainOps(ops: Work['ops']): Op[] {
  return ops.map((op) => {
    if (op.op === 'answer') return { ...op, output: [op.output] }
    if (op.op === 'together') return { ...op, branches: op.branches.map(plainOps) }
    return 'ops' in op ? { ...op, ops: plainOps(op.ops) } : op
  })
}

it('EVNT-05 a snapshot and what follows it come to the same view as the whole log, whatever happens to a thread', async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (planned) => {
      const here = createWorld('memory')
      try {
        const snapshots: SnapshotItem[] = []
        let log: readonly ThreadEvent[] = []
        await perform(here, planned.map(plain), async (runtime) => {
          snapshots.push({ type: 'snapshot', ...(await runtime.thread('t')) })
          log = await logOf(runtime, 't')
          const whole = comparable(log.reduce(reduceView, createThreadView()))
          const last = snapshots.at(-1) as SnapshotItem
          expect(comparable(reduceView(createThreadView(), last))).toEqual(whole)
          for (const each of snapshots) expect(comparable(viewFrom(each, log, snapshots))).toEqual(whole)
        })
      } finally {
        await here.end()
      }
    }),
    { numRuns: 100 },
  )
}, 60_000)
