import { cancelled, messageList, threadList, threadSnapshot } from '../../protocol/schemas/answers.ts'
import { cancelThreadBody, emptyBody } from '../../protocol/schemas/bodies.ts'
import { messagesQuery, threadParams, threadsQuery } from '../../protocol/schemas/queries.ts'
import { json, route, type Site } from '../route.ts'

/** Threads as a whole: what is in them, cancelling, deleting. */
export function threadRoutes(site: Site): void {
  readingRoutes(site)
  endingRoutes(site)
}

const params = threadParams

function readingRoutes(site: Site): void {
  route(
    site,
    {
      method: 'get',
      path: '/v1/threads',
      summary: 'List threads, the one with the newest event first',
      query: threadsQuery,
      answers: [{ status: 200, description: 'A page of threads', schema: threadList }],
    },
    async ({ c, runtime, query }) => json(c, 200, await runtime.threads(query)),
  )
  route(
    site,
    {
      method: 'get',
      path: '/v1/threads/{thread}',
      summary: 'Read a thread as it is at its head',
      params,
      answers: [{ status: 200, description: 'A consistent picture of the thread', schema: threadSnapshot }],
    },
    async ({ c, runtime, params: { thread } }) => json(c, 200, await runtime.thread(thread)),
  )
  route(
    site,
    {
      method: 'get',
      path: '/v1/threads/{thread}/messages',
      summary: 'Read the conversation after a number',
      params,
      query: messagesQuery,
      answers: [{ status: 200, description: 'A page of messages', schema: messageList }],
    },
    async ({ c, runtime, params: { thread }, query }) => json(c, 200, await runtime.messagePage(thread, query)),
  )
}

function endingRoutes(site: Site): void {
  route(
    site,
    {
      method: 'post',
      path: '/v1/threads/{thread}/cancel',
      summary: 'Cancel the runs of a thread, or all of its tasks',
      params,
      body: cancelThreadBody,
      answers: [{ status: 200, description: 'What had not ended', schema: cancelled }],
    },
    async ({ c, runtime, params: { thread }, body }) =>
      json(c, 200, { cancelled: await runtime.cancelThread(thread, body) }),
  )
  route(
    site,
    {
      method: 'delete',
      path: '/v1/threads/{thread}',
      summary: 'Cancel everything in a thread and remove all of its content',
      params,
      body: emptyBody,
      answers: [{ status: 204, description: 'Nothing of it is left' }],
    },
    async ({ c, runtime, params: { thread } }) => {
      await runtime.deleteThread(thread)
      return new Response(null, { status: 204, headers: { ...c.get('headers') } })
    },
  )
}
