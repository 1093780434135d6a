import { z } from 'zod'
import { errorCodes, taskErrorCodes } from '../../core/errors.ts'
import { part } from './part.ts'
import { instant, status } from './words.ts'

/** The shapes of what is answered. Later versions may add fields, so none of them is strict. */

const taskError = z.object({ code: z.enum(taskErrorCodes), message: z.string() }).meta({ id: 'TaskError' })

const parent = z.object({
  task: z.string().optional(),
  run: z.string().optional(),
  call: z.string().optional(),
  agent: z.string().optional(),
})

const hook = z.object({
  attempts: z.int().meta({ description: 'Calls that failed' }),
  error: z.string().optional().meta({ description: 'How the last of them failed' }),
  nextAt: instant.optional().meta({ description: 'When it is called next; absent if it was given up' }),
})

export const task = z
  .object({
    id: z.string(),
    thread: z.string(),
    seq: z.int().meta({ description: 'The number of its last event: of two copies the higher is newer' }),
    type: z.string(),
    agent: z.string().optional(),
    name: z.string().optional(),
    description: z.string(),
    status,
    position: z.int().optional().meta({ description: 'On a pending run: how many pending runs start before it' }),
    parent: parent.optional(),
    detached: z.boolean().optional(),
    progress: z.number().min(0).max(1).optional(),
    usage: z.record(z.string(), z.number()).optional(),
    input: z.unknown().optional(),
    result: z.unknown().optional(),
    inputOmitted: z.literal(true).optional().meta({ description: 'In a snapshot: read the task by itself' }),
    resultOmitted: z.literal(true).optional().meta({ description: 'In a snapshot: read the task by itself' }),
    error: taskError.optional(),
    partial: z.literal(true).optional(),
    unread: z
      .array(z.string())
      .optional()
      .meta({ description: 'Of an ended task: the first messages, at most 100, that it never read' }),
    attempt: z.int(),
    epoch: z.int(),
    cancelRequestedAt: instant.optional(),
    createdAt: instant,
    startedAt: instant.optional(),
    completedAt: instant.optional(),
    hook: hook
      .optional()
      .meta({ description: 'Of an ended task, while a call of onEnded is owed or when it was given up' }),
    metadata: z.unknown().optional(),
  })
  .meta({ id: 'Task' })

export const acceptedRun = task
  .extend({
    steered: z.string().optional().meta({ description: 'The id of the message that the prompt became' }),
    interrupted: z.array(z.string()).optional().meta({ description: 'What was cancelled for it' }),
  })
  .meta({ id: 'AcceptedRun' })

export const event = z
  .object({
    thread: z.string(),
    seq: z.int(),
    task: z.string().optional(),
    type: z.string().meta({ description: 'Readers ignore types that they do not know' }),
    at: instant,
    epoch: z.int().optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' })

export const message = z
  .object({
    id: z.string(),
    thread: z.string(),
    seq: z.int(),
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    parts: z.array(part),
    finish: z.enum(['end_turn', 'cancelled', 'error', 'timeout']).optional(),
    task: z.string().optional(),
    at: instant,
  })
  .meta({ id: 'Message' })

export const question = z
  .object({
    id: z.string(),
    thread: z.string(),
    task: z.string(),
    text: z.string(),
    options: z.array(z.string()).optional(),
    default: z.unknown().optional(),
    askedAt: instant,
    expiresAt: instant.optional(),
    answer: z.unknown().optional(),
    by: z.string().optional(),
    answeredAt: instant.optional(),
  })
  .meta({ id: 'Question' })

export const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(errorCodes),
    detail: z.string().optional(),
    requestId: z.string(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. Facts of the code stand beside these fields' })
