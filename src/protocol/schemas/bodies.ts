import { z } from 'zod'
import { anyJson, idText } from './words.ts'

const reasonLengthMax = 1000
const fromLengthMax = 200
// As many results as anybody takes in one go; each is looked up by itself.
const collectCountMax = 10_000
// Longer than any token that goes into a header.
const credentialLengthMax = 4096

export const reason = z.string().max(reasonLengthMax)
export const from = z.string().max(fromLengthMax)
export const scope = z.enum(['runs', 'all'])

export const cancelThreadBody = z
  .strictObject({ scope: scope.optional(), reason: reason.optional() })
  .meta({ id: 'ThreadCancel' })

export const cancelTaskBody = z
  .strictObject({ tree: z.boolean().optional(), reason: reason.optional() })
  .meta({ id: 'TaskCancel' })

export const messageBody = z.strictObject({ content: anyJson, from: from.optional() }).meta({ id: 'SentMessage' })

export const collectBody = z.strictObject({ tasks: z.array(idText).max(collectCountMax) }).meta({ id: 'Collect' })

export const answerBody = z.strictObject({ answer: anyJson }).meta({ id: 'Answer' })

const kept = z.int().min(1).optional()

export const pruneBody = z
  .strictObject({
    eventsMs: kept.meta({ description: 'Events older than this go from the front of their log' }),
    eventsPerThread: kept.meta({ description: 'At most so many events of a thread are kept: its newest' }),
    threadsMs: kept.meta({ description: 'A thread in which nothing has happened for this long goes as a whole' }),
    dryRun: z.boolean().optional().meta({ description: 'Only counts' }),
    cursor: idText.optional().meta({ description: 'That of the last answer' }),
  })
  .refine(
    ({ eventsMs, eventsPerThread, threadsMs }) => (eventsMs ?? eventsPerThread ?? threadsMs) !== undefined,
    'Say what to prune: eventsMs, eventsPerThread or threadsMs',
  )
  .meta({ id: 'Prune' })

const credential = z.string().min(1).max(credentialLengthMax)

export const loginBody = z
  .strictObject({ token: credential.optional(), code: credential.optional() })
  .refine(
    ({ token, code }) => (token === undefined) !== (code === undefined),
    'Exactly one of token and code is needed',
  )
  .meta({ id: 'Login' })

export const emptyBody = z.strictObject({})
