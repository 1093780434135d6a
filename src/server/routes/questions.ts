import { HoldfastError } from '../../core/errors.ts'
import { questionList } from '../../protocol/schemas/answers.ts'
import { answerBody } from '../../protocol/schemas/bodies.ts'
import { questionParams, questionsQuery } from '../../protocol/schemas/queries.ts'
import { question } from '../../protocol/schemas/shapes.ts'
import { json, route, type Site } from '../route.ts'

/** Questions of tasks to people. No task can ask yet: none is open, and none can be answered. */
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
    ({ c }) => json(c, 200, { questions: [] }),
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
    () => {
      throw new HoldfastError('not_found', 'There is no such question')
    },
  )
}
