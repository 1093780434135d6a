import { z } from 'zod'
import type { ClientFrame } from '../frames.ts'
import { from, reason, scope } from './bodies.ts'
import { parse } from './parse.ts'
import { anyJson, idempotencyKey, idText, threadText, typesText } from './words.ts'
import { asksOnce, asksOnceMessage, runFields } from './work.ts'

const frameIdLengthMax = 1024

/** Repeated in every frame that answers, so it is short. */
export const frameId = z.union([z.string().max(frameIdLengthMax), z.number()])

const id = frameId.optional()

const types = z.union([z.array(z.string().min(1)).min(1), typesText.transform((list) => list.split(','))])

const run = z
  .strictObject({
    type: z.literal('run'),
    id,
    thread: threadText,
    ...runFields,
    idempotencyKey: idempotencyKey.optional(),
  })
  .refine(asksOnce, asksOnceMessage)

const attach = z.strictObject({
  type: z.literal('attach'),
  id,
  thread: threadText,
  task: idText.optional(),
  after: z.int().min(0).optional(),
  types: types.optional(),
})

const detach = z.strictObject({ type: z.literal('detach'), id, thread: threadText, task: idText.optional() })

const watch = z.strictObject({ type: z.literal('watch'), id, types: types.optional() })
const unwatch = z.strictObject({ type: z.literal('unwatch'), id })

const cancel = z
  .strictObject({
    type: z.literal('cancel'),
    id,
    thread: threadText,
    task: idText.optional(),
    scope: scope.optional(),
    reason: reason.optional(),
  })
  .refine(({ task, scope }) => task === undefined || scope === undefined, 'A cancel names a task or a scope, not both')

const send = z.strictObject({
  type: z.literal('send'),
  id,
  thread: threadText,
  task: idText,
  content: anyJson,
  from: from.optional(),
})

const answer = z.strictObject({ type: z.literal('answer'), id, question: idText, answer: anyJson })
const ping = z.strictObject({ type: z.literal('ping'), id })

/** Every frame that a client may send. */
export const clientFrame = z.discriminatedUnion('type', [
  run,
  attach,
  detach,
  watch,
  unwatch,
  cancel,
  send,
  answer,
  ping,
])

/** A frame of a client, or `invalid_request` with all that is wrong with it. */
export function parseClientFrame(value: unknown): ClientFrame {
  return parse(clientFrame, value)
}
