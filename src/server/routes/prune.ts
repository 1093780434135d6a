import { pruned } from '../../protocol/schemas/answers.ts'
import { pruneBody } from '../../protocol/schemas/bodies.ts'
import { json, route, type Site } from '../route.ts'

/** Removing what need not be kept. */
export function pruneRoutes(site: Site): void {
  route(
    site,
    {
      method: 'post',
      path: '/v1/prune',
      summary: 'Remove old events and old threads, as many as take a moment',
      body: pruneBody,
      answers: [{ status: 200, description: 'What was removed, or would be', schema: pruned }],
      problems: ['draining'],
    },
    async ({ c, runtime, body }) => json(c, 200, await runtime.prune(body)),
  )
}
