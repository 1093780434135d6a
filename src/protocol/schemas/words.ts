import { z } from 'zod'
import { threadPattern, threadRule } from '../../core/id.ts'
import { statuses } from '../../core/status.ts'

/** The small values that requests are made of. */

export const threadText = z
  .string()
  .regex(threadPattern, threadRule)
  .meta({ description: 'A thread id, which is the principal’s own' })

export const nameText = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'A name is 1-64 characters of A-Za-z0-9_-')

export const typeText = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'A type is 1-64 characters of A-Za-z0-9_-')

/** Any text can be asked for: an id that nobody has names nothing. */
export const idText = z.string().max(500, 'No id is that long')

/** A comma list of event types. A type that no event has is no mistake. */
export const typesText = z
  .string()
  .regex(/^[^,\s]+(,[^,\s]+)*$/, 'types is a list of event types, with commas between')
  .meta({ description: 'A comma list of event types' })

export const status = z.enum(statuses)

export const idempotencyKey = z.string().regex(/^[!-~]{1,200}$/, 'An idempotency key is 1-200 visible ASCII characters')

/** JSON of any kind, but given. */
export const anyJson = z
  .unknown()
  .refine((value) => value !== undefined, 'Required')
  .meta({ description: 'Any JSON' })

export const instant = z.int().meta({ description: 'Milliseconds since the epoch' })
