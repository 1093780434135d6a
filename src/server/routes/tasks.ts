import { HoldfastError, notFound } from '../../core/errors.ts'
import { cancelled, sent, taskList } from '../../protocol/schemas/answers.ts'
import { cancelTaskBody, messageBody } from '../../protocol/schemas/bodies.ts'
import { taskParams, tasksQuery } from '../../protocol/schemas/queries.ts'
import { task } from '../../protocol/schemas/shapes.ts'
import type { SendAnswer } from '../../runtime/message-to-send.ts'
import { json, route, type Site } from '../route.ts'

/** Single tasks: reading, cancelling, sending to them. */
export function taskRoutes(site: Site): void {
  readingRoutes(site)
  actingRoutes(site)
}

const params = taskParams

function readingRoutes(site: Site): void {
  route(
    site,
    {
      method: 'get',
      path: '/v1/tasks',
      summary: 'List tasks, newest first',
      query: tasksQuery,
      answers: [{ status: 200, description: 'A page of tasks', schema: taskList }],
    },
    async ({ c, runtime, query }) => json(c, 200, await runtime.list(query)),
  )
  route(
    site,
    {
      method: 'get',
      path: '/v1/tasks/{id}',
      summary: 'Read a task',
      params,
      answers: [{ status: 200, description: 'The task', schema: task }],
      problems: ['not_found'],
    },
    async ({ c, runtime, params: { id } }) => json(c, 200, found(await runtime.get(id), id)),
  )
}

function actingRoutes(site: Site): void {
  route(
    site,
    {
      method: 'post',
      path: '/v1/tasks/{id}/cancel',
      summary: 'Cancel a task, with its tree unless told otherwise',
      params,
      body: cancelTaskBody,
      answers: [{ status: 200, description: 'What had not ended', schema: cancelled }],
      problems: ['not_found'],
    },
    async ({ c, runtime, params: { id }, body }) =>
      json(c, 200, { cancelled: found(await runtime.cancelTask(id, body), id) }),
  )
  route(
    site,
    {
      method: 'post',
      path: '/v1/tasks/{id}/messages',
      summary: 'Send a message to the inbox of a task',
      params,
      body: messageBody,
      answers: [{ status: 202, description: 'The id of the message', schema: sent }],
      problems: ['not_found', 'task_terminated', 'no_inbox', 'too_large'],
    },
    async ({ c, runtime, params: { id }, body }) => json(c, 202, { id: sentId(await runtime.send(id, body), id) }),
  )
}

function found<Value>(value: Value | undefined, id: string): Value {
  if (value === undefined) throw notFound(id)
  return value
}

/** The id of a message that was sent; a refusal as the problem that it is on the wire. */
export function sentId(answer: SendAnswer, task: string): string {
  if (answer.isSent) return answer.id
  const { reason, taskStatus } = answer
  switch (reason) {
    case 'not_found':
    case 'not_owner':
      throw notFound(task)
    case 'no_inbox':
      throw new HoldfastError('no_inbox', 'Only runs and tasks of type agent have an inbox')
    case 'task_terminated':
      throw new HoldfastError('task_terminated', 'The task has ended or is being cancelled; nobody would read it', {
        facts: { taskStatus },
      })
  }
}
