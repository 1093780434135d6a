import { questionList } from '../../protocol/schemas/answers.ts'
import { answerBody } from '../../protocol/schemas/bodies.ts'
import { questionParams, questionsQuery } from '../../protocol/schemas/queries.ts'
import { question } from '../../protocol/schemas/shapes.ts'
import { json, route, type Site } from '../route.ts'

/** Questions of tasks to people. */
export function questionRoutes(site: Site): void {
  route(
    site,
    {
      method: 'get',
      path: '/v1/questions',
      summary: 'List open questions',
      query: questionsQuery,
      answers: [{ status: 200, description: 'The open questions', schema: questionList }],
    },
    async ({ c, runtime, query }) => json(c, 200, { questions: await runtime.questions(query) }),
  )
  route(
    site,
    {
      method: 'post',
      path: '/v1/questions/{id}/answer',
      summary: 'Answer a question',
      params: questionParams,
      body: answerBody,
      answers: [{ status: 200, description: 'The question with its answer', schema: question }],
      problems: ['not_found', 'already_answered', 'task_terminated', 'invalid_input'],
    },
    async ({ c, runtime, params, body }) => json(c, 200, await runtime.answer(params.id, body.answer)),
  )
}
