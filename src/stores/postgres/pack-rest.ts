import { isOpen, type QuestionRecord } from '../../core/question.ts'
import type { StepRecord } from '../../core/step.ts'
import type { Mail, MessagePut, QuestionPut, Unit } from '../../core/unit.ts'
import { toColumn, toOptional } from './column-text.ts'
import type { Row } from './lists.ts'
import type { PackedTexts } from './pack-texts.ts'

/** What `write_rest` is given of a unit, or undefined if that is nothing. */
export function packRest(unit: Unit): Record<string, unknown> | undefined {
  const { take = [], questions = [] } = unit
  if (take.length === 0 && questions.length === 0) return undefined
  return {
    ...(take.length > 0 && { take: take.map(toColumn) }),
    ...(questions.length > 0 && { questions: questions.map((put) => packQuestion(put, unit)) }),
  }
}

/** What of a message to a task is not searched; absent fields stay absent. */
export type MailDoc = Pick<Mail, 'by' | 'from' | 'steer' | 'ended'>

export function packMail({ id, task, place, content, ...doc }: Mail, texts: PackedTexts): Row {
  const row = { id: toColumn(id), task: toColumn(task), place, content: texts.placeOf(content) }
  return { ...row, doc: JSON.stringify(doc satisfies MailDoc) }
}

export function packMessage(put: MessagePut, eventCount: number, texts: PackedTexts): Row {
  const { id, task, event, role, finish, parts } = put
  if (event >= eventCount) throw new Error(`The message ${id} names an event that its unit does not have`)
  return { id: toColumn(id), task: toOptional(task), event, role, finish, parts: texts.placeOf(parts) }
}

/** What of a question no query looks at. */
export type QuestionDoc = Pick<QuestionRecord, 'input' | 'text' | 'options' | 'default' | 'answer' | 'by' | 'closed'>

function packQuestion({ record, isNew, stamp }: QuestionPut, unit: Unit): Record<string, unknown> {
  const { id, key, task, stepKey, askedAt, expiresAt, answeredAt, taken, ...doc } = record
  if (key !== unit.thread) throw new Error(`The question ${id} is not of the thread ${unit.thread}`)
  return {
    is_new: isNew,
    id: toColumn(id),
    task: toColumn(task),
    step_key: toColumn(stepKey),
    open: isOpen(record),
    taken,
    asked_at: askedAt,
    expires_at: expiresAt,
    answered_at: answeredAt,
    stamp,
    doc: JSON.stringify(doc satisfies QuestionDoc),
  }
}

/** What of a step is not searched and is no text of the user's. */
export type StepDoc = Omit<StepRecord, 'task' | 'key' | 'value' | 'seq'>

export function packStep({ task, key, value, seq: _unknownBefore, ...doc }: StepRecord, texts: PackedTexts): Row {
  const row = { task: toColumn(task), key: toColumn(key), value: texts.placeOf(value) }
  return { ...row, doc: JSON.stringify(doc satisfies StepDoc) }
}
