import { threadParams } from '../../protocol/schemas/queries.ts'
import { acceptedRun, task } from '../../protocol/schemas/shapes.ts'
import { runBody, taskBody } from '../../protocol/schemas/work.ts'
import { acceptHeaders, acceptOptions } from '../accept-headers.ts'
import type { AppContext } from '../app-env.ts'
import { json, route, type Site } from '../route.ts'

/** A task that was accepted now, or before under the same key. */
interface Accepted {
  readonly id: string
  readonly isReplayed?: true
}

const answerHeaders = {
  Location: 'The path of the task',
  'Idempotency-Replayed': '`true` if the same request was accepted before under the same key',
}

/** The two routes that accept work. */
export function runRoutes(site: Site): void {
  runRoute(site)
  taskRoute(site)
}

function runRoute(site: Site): void {
  const { basePath } = site.parts
  route(
    site,
    {
      method: 'post',
      path: '/v1/threads/{thread}/runs',
      summary: 'Accept a run into the queue of a thread',
      params: threadParams,
      headers: acceptHeaders,
      body: runBody,
      answers: [
        { status: 202, description: 'The run as it was accepted', schema: acceptedRun, headers: answerHeaders },
      ],
      problems: ['busy', 'idempotency_conflict', 'too_large', 'unknown_agent', 'invalid_input', ...whenRefused],
    },
    async ({ c, runtime, params, body }) =>
      accepted(c, basePath, await runtime.run({ ...body, ...params, ...acceptOptions(c) })),
  )
}

function taskRoute(site: Site): void {
  const { basePath } = site.parts
  route(
    site,
    {
      method: 'post',
      path: '/v1/threads/{thread}/tasks',
      summary: 'Spawn a background task beside the queue of a thread',
      params: threadParams,
      headers: acceptHeaders,
      body: taskBody,
      answers: [{ status: 202, description: 'The task as it was accepted', schema: task, headers: answerHeaders }],
      problems: [
        'not_found',
        'idempotency_conflict',
        'name_taken',
        'task_terminated',
        'too_large',
        'unknown_agent',
        'reserved_name',
        'invalid_input',
        ...whenRefused,
      ],
    },
    async ({ c, runtime, params, body: { parent, ...body } }) => {
      const lineage = parent !== undefined && { parent: { task: parent } }
      return accepted(c, basePath, await runtime.spawn({ ...body, ...lineage, ...params, ...acceptOptions(c) }))
    },
  )
}

const whenRefused = ['limit_reached', 'draining', 'store_unavailable'] as const

function accepted(c: AppContext, basePath: string, { isReplayed, ...task }: Accepted): Response {
  const location = `${basePath}/v1/tasks/${task.id}`
  return json(c, 202, task, { location, ...(isReplayed && { 'idempotency-replayed': 'true' }) })
}
