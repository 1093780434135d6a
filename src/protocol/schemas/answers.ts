import { z } from 'zod'
import { part } from './part.ts'
import { event, message, question, task } from './shapes.ts'
import { instant } from './words.ts'

const cursor = z.string().optional().meta({ description: 'Of the next page, if there is one' })
const ids = z.array(z.string())

export const taskList = z.object({ tasks: z.array(task), cursor })
export const messageList = z.object({
  messages: z.array(message),
  cursor: z.int().optional().meta({ description: 'The `after` of the next page, if there is one' }),
})
export const questionList = z.object({ questions: z.array(question) })

export const threadList = z.object({
  threads: z.array(z.object({ thread: z.string(), head: z.int(), first: z.int(), at: instant })),
  cursor,
})

export const threadSnapshot = z
  .object({
    thread: z.string(),
    head: z.int(),
    first: z.int(),
    watchers: z.int(),
    messages: z.array(message),
    tasks: z.array(task),
    live: z.array(z.object({ task: z.string(), parts: z.array(part) })),
    questions: z.array(question),
  })
  .meta({ id: 'ThreadSnapshot' })

export const cancelled = z.object({ cancelled: ids })
export const collected = z.object({ collected: ids })
export const pruned = z.object({
  threads: z.int().meta({ description: 'Threads that went as a whole' }),
  events: z.int(),
  tasks: z.int().meta({ description: 'Those of the threads that went' }),
  skipped: z.int().optional().meta({ description: 'Threads that could not be pruned now, if there were any' }),
  cursor: z.string().optional().meta({ description: 'There is more to look at: ask again with it' }),
})
export const sent = z.object({ id: z.string() })
export const loggedIn = z.object({ principal: z.string() })

export const resultList = z.object({
  results: z.array(
    z.object({
      task: z.string(),
      status: z.enum(['completed', 'failed', 'cancelled']),
      answer: z.unknown().optional(),
      answerOmitted: z
        .literal(true)
        .optional()
        .meta({ description: 'Read it from the task, or again once others are taken' }),
      error: z.object({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
  running: z.int(),
})

export const eventPage = z.object({
  events: z.array(event),
  head: z.int(),
  next: z.int().meta({ description: 'The `after` of the next page; if it is `head`, there is none' }),
})

export const agentList = z.object({
  agents: z.array(
    z.object({
      name: z.string(),
      description: z.string().optional(),
      version: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()).optional(),
      concurrency: z.int().min(1).optional(),
    }),
  ),
})

export const limitList = z.record(z.string(), z.number())
export const alive = z.object({ status: z.literal('ok') })

export const ready = z.object({
  status: z.literal('ready'),
  store: z.enum(['memory', 'sqlite', 'postgres']),
  durable: z.boolean(),
  notice: z.string().optional(),
})
