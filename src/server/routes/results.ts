import { collected, resultList } from '../../protocol/schemas/answers.ts'
import { collectBody } from '../../protocol/schemas/bodies.ts'
import { threadParams } from '../../protocol/schemas/queries.ts'
import { json, route, type Site } from '../route.ts'

/** Results of background tasks that nobody has taken. */
export function resultRoutes(site: Site): void {
  route(
    site,
    {
      method: 'get',
      path: '/v1/threads/{thread}/results',
      summary: 'Read the results that nobody has taken',
      params: threadParams,
      answers: [{ status: 200, description: 'Reading takes nothing', schema: resultList }],
    },
    async ({ c, runtime, params: { thread } }) => json(c, 200, await runtime.results(thread)),
  )
  route(
    site,
    {
      method: 'post',
      path: '/v1/threads/{thread}/results/collect',
      summary: 'Take results',
      params: threadParams,
      body: collectBody,
      answers: [{ status: 200, description: 'Those that were there to be taken', schema: collected }],
    },
    async ({ c, runtime, params: { thread }, body }) =>
      json(c, 200, { collected: await runtime.collect(thread, body.tasks) }),
  )
}
