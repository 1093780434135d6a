import type { HookPut, HookRecord } from '../../core/hook.ts'
import type { JsonText } from '../../core/id.ts'
import type { Usage } from '../../core/task.ts'
import type { TaskPut } from '../../core/unit.ts'
import { toColumn } from './column-text.ts'
import type { TaskDoc } from './task-row.ts'

/** A put as `write_rows` is given it: the columns of the table, and what the commit decides. Absent is null. */
export function packTask(put: TaskPut): Record<string, unknown> {
  const { record, isNew, stamps, reports = [] } = put
  const {
    id,
    key: _key,
    type,
    agent,
    name,
    stepKey,
    status,
    place,
    ready,
    taken,
    closure,
    wake,
    node,
    ...more
  } = record
  const { attempt, epoch, progress, usage, hook: _hook, input, result, firstSeq: _first, seq: _seq, ...others } = more
  const { startedSeq, createdAt, startedAt, completedAt, cancelRequestedAt, ...doc } = others
  return {
    ...(isNew && { id: toColumn(id), input }),
    type: toColumn(type),
    ...texts({ agent, name, parent: record.parent?.task, step_key: stepKey, wake }),
    node: toColumn(node ?? ''),
    status,
    place,
    ready,
    taken,
    closure: closure === true,
    attempt,
    epoch,
    progress,
    usage: usage && packUsage(usage),
    result,
    started_seq: startedSeq,
    created_at: createdAt,
    started_at: startedAt,
    completed_at: completedAt,
    cancel_requested_at: cancelRequestedAt,
    doc: JSON.stringify(doc satisfies TaskDoc),
    ...(stamps.length > 0 && { stamps }),
    ...(reports.length > 0 && { reports }),
  }
}

export function packUsage(usage: Usage): JsonText {
  return JSON.stringify(usage)
}

/** The instant has a column of its own, because what is due is looked for by it. */
export function packHook({ task, hook, stamp }: HookPut): Record<string, unknown> {
  const { nextAt, ...rest }: Partial<HookRecord> = hook ?? {}
  const stamped = hook !== undefined && stamp !== undefined
  return { task: toColumn(task), hook: hook && JSON.stringify(rest), hook_at: nextAt, stamped }
}

function texts(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(given.map(([name, text]) => [name, toColumn(text)]))
}
