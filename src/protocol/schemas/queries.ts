import { z } from 'zod'
import { type Status, statuses } from '../../core/status.ts'
import { offsetMessage, offsetPattern } from '../offset.ts'
import { idText, nameText, threadText, typesText, typeText } from './words.ts'

const cursorLengthMax = 500

const limit = z
  .string()
  .regex(/^[0-9]{1,4}$/, 'A limit is a whole number from 1 to 1000')
  .transform(Number)
  .refine((count) => count >= 1 && count <= 1000, 'A limit is a whole number from 1 to 1000')
  .meta({ description: '1-1000, 100 unless given' })

const cursor = z.string().min(1).max(cursorLengthMax).meta({ description: 'Of the page before' })

const offset = z
  .string()
  .regex(offsetPattern, offsetMessage)
  .transform(Number)
  .refine(Number.isSafeInteger, offsetMessage)
  .meta({ description: 'The number after which to begin; 0 unless given' })

const anyStatus = statuses.join('|')

const statusList = z
  .string()
  .regex(new RegExp(`^(${anyStatus})(,(${anyStatus}))*$`), `status is a list of ${statuses.join(', ')}`)
  .transform((text) => text.split(',') as Status[])
  .meta({ description: 'A comma list of statuses' })

export const threadParams = z.object({ thread: threadText })
export const taskParams = z.object({ id: idText.meta({ description: 'A task id' }) })
export const questionParams = z.object({ id: idText.meta({ description: 'A question id' }) })

export const threadsQuery = z.object({ cursor: cursor.optional(), limit: limit.optional() })

export const messagesQuery = z.object({ after: offset.optional(), limit: limit.optional() })

export const tasksQuery = z.object({
  thread: threadText.optional(),
  status: statusList.optional(),
  type: typeText.optional(),
  name: nameText.optional(),
  parent: idText.optional(),
  roots: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'Only tasks that no task spawned' }),
  cursor: cursor.optional(),
  limit: limit.optional(),
})

export const questionsQuery = z.object({ thread: threadText.optional() })

/** Which part of a log: `after` counts unless `Last-Event-ID` is given. */
export const logQuery = z.object({
  after: offset.optional(),
  task: idText.optional(),
  types: typesText.optional(),
  limit: limit.optional(),
})

export const firehoseQuery = z.object({ types: typesText.optional() })
