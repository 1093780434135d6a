import type { HookPut, HookRecord } from '../../core/hook.ts'
import type { JsonText } from '../../core/id.ts'
import type { Usage } from '../../core/task.ts'
import type { TaskPut } from '../../core/unit.ts'
import { toColumn, toOptional } from './column-text.ts'
import type { Row } from './lists.ts'
import type { PackedTexts } from './pack-texts.ts'
import { docOf } from './task-row.ts'

/** A put as `write_rows` is given it: the columns of the table, and what the commit decides. Absent is null. */
export function packTask({ record, isNew, stamps, reports }: TaskPut, texts: PackedTexts): Row {
  return {
    ...(isNew && { id: toColumn(record.id), input: texts.placeOf(record.input) }),
    type: toColumn(record.type),
    agent: toOptional(record.agent),
    name: toOptional(record.name),
    parent: toOptional(record.parent?.task),
    step_key: toOptional(record.stepKey),
    wake: toOptional(record.wake),
    node: toColumn(record.node ?? ''),
    status: record.status,
    place: record.place,
    ready: record.ready,
    taken: record.taken,
    closure: record.closure === true,
    attempt: record.attempt,
    epoch: record.epoch,
    progress: record.progress,
    usage: record.usage && packUsage(record.usage),
    result: texts.placeOf(record.result),
    started_seq: record.startedSeq,
    created_at: record.createdAt,
    started_at: record.startedAt,
    completed_at: record.completedAt,
    cancel_requested_at: record.cancelRequestedAt,
    doc: docOf(record),
    stamps_started_seq: isIn(stamps, 'startedSeq'),
    stamps_created_at: isIn(stamps, 'createdAt'),
    stamps_started_at: isIn(stamps, 'startedAt'),
    stamps_completed_at: isIn(stamps, 'completedAt'),
    stamps_cancel_requested_at: isIn(stamps, 'cancelRequestedAt'),
    reports_progress: isIn(reports, 'progress'),
    reports_usage: isIn(reports, 'usage'),
  }
}

export function packUsage(usage: Usage): JsonText {
  return JSON.stringify(usage)
}

/** The instant has a column of its own, because what is due is looked for by it. */
export function packHook({ task, hook, stamp }: HookPut): Row {
  const { nextAt, ...rest }: Partial<HookRecord> = hook ?? {}
  const stamped = hook !== undefined && stamp !== undefined
  return { task: toColumn(task), hook: hook && JSON.stringify(rest), hook_at: nextAt, stamped }
}

/** Undefined rather than false: a column that no row has is not sent. */
function isIn<Name>(names: readonly Name[] | undefined, name: Name): true | undefined {
  return names?.includes(name) || undefined
}
