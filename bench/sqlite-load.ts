import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventDraft } from '../src/core/event.ts'
import { principal, taskId, threadId, threadKey } from '../src/core/id.ts'
import type { TaskRecord } from '../src/core/task.ts'
import type { Unit } from '../src/core/unit.ts'

/** The load of the SQLite benchmarks: tasks that each have a thread of their own and emit events of 300 bytes. */
export const payload = { name: 'tick', payload: 'x'.repeat(273) }
export const eventBytes = JSON.stringify(payload).length

const key = (n: number) => threadKey(principal('bench'), threadId(`thread-${n}`))

/** Accepts and starts a task in a thread of its own. */
export function acceptUnit(n: number): Unit {
  const record: TaskRecord = {
    id: taskId(`bg_${n}`),
    key: key(n),
    type: 'run',
    agent: 'bench',
    description: 'emits',
    status: 'running',
    asked: 'prompt',
    input: '"go"',
    attempt: 1,
    epoch: 1,
    inbox: true,
    ready: false,
    place: 0,
    depth: 0,
    node: 'node_1',
    crashes: 0,
    taken: false,
    createdAt: 0,
    firstSeq: 0,
    seq: 0,
  }
  const tasks = [{ record, isNew: true, stamps: ['createdAt', 'startedAt', 'startedSeq'] as const }]
  return { operation: 'accept', thread: key(n), rev: 0, events: [], tasks }
}

/** What a task emitted since the last commit. The data is encoded here, as the runtime does when it is emitted. */
export function emitUnit(n: number, eventCount: number): Unit {
  const id = taskId(`bg_${n}`)
  const event = (): EventDraft => ({ task: id, type: 'custom', epoch: 1, data: JSON.stringify(payload) })
  return {
    operation: 'emit',
    thread: key(n),
    fence: { task: id, epoch: 1 },
    events: Array.from({ length: eventCount }, event),
  }
}

/** A path in a folder of its own, which is removed at the end. */
export async function withPath<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    return await work(join(folder, 'store.db'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function fileBytes(path: string): number {
  return statSync(path).size
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
