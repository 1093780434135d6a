import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi'
import type { ErrorCode } from '../core/errors.ts'
import { httpStatus } from '../protocol/http-status.ts'
import { problem } from '../protocol/schemas/shapes.ts'
import type { AnswerSpec, RouteSpec } from './route.ts'

type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>
type Answers = RouteConfig['responses']

/** What may be answered to any request, so that no route has to say so. */
const common: readonly ErrorCode[] = ['forbidden_origin', 'internal_error']

const info = {
  title: 'Holdfast',
  version: '1',
  description: 'Agent runs that outlive the connection. Problems are RFC 9457; `code` tells them apart.',
}

const madeBefore = new WeakMap<readonly RouteSpec[], Promise<Document>>()

/** The OpenAPI document of the routes, made when it is first asked for. */
export function openApiDocument(specs: readonly RouteSpec[], basePath: string): Promise<Document> {
  const known = madeBefore.get(specs)
  if (known) return known
  const made = make(specs, basePath)
  madeBefore.set(specs, made)
  return made
}

async function make(specs: readonly RouteSpec[], basePath: string): Promise<Document> {
  // Few ever ask, and the generator is larger than all of the routes.
  const { OpenAPIHono } = await import('@hono/zod-openapi')
  const api = new OpenAPIHono()
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  api.openAPIRegistry.registerComponent('securitySchemes', 'cookie', { type: 'apiKey', in: 'cookie', name: 'holdfast' })
  for (const spec of specs) api.openAPIRegistry.registerPath(pathOf(spec))
  return api.getOpenAPI31Document({ openapi: '3.1.0', info, servers: [{ url: basePath === '' ? '/' : basePath }] })
}

function pathOf(spec: RouteSpec): RouteConfig {
  const { method, path, summary, params, query, headers, body } = spec
  const isBodyNeeded = body !== undefined && !body.safeParse({}).success
  return {
    method,
    path,
    summary,
    operationId: operationId(spec),
    security: spec.isOpen ? [] : [{ bearer: [] }, { cookie: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(body && { body: { required: isBodyNeeded, content: { 'application/json': { schema: body } } } }),
    },
    responses: { ...goodAnswers(spec.answers), ...problemAnswers(problemsOf(spec)) },
  }
}

/** `post /v1/tasks/{id}/cancel` is `postTasksIdCancel`. */
function operationId({ method, path }: RouteSpec): string {
  const words = path.replace('/v1', '').match(/[A-Za-z]+/g) ?? []
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function problemsOf({ isOpen, params, query, body, problems = [] }: RouteSpec): readonly ErrorCode[] {
  const codes: readonly (ErrorCode | false)[] = [
    ...common,
    !isOpen && 'unauthenticated',
    (params ?? query ?? body) !== undefined && 'invalid_request',
    body !== undefined && 'too_large',
    !isOpen && 'store_unavailable',
    ...problems,
  ]
  return [...new Set(codes)].filter((code) => code !== false)
}

/** Answers of one status in several forms are one answer with several media types. */
function goodAnswers(specs: readonly AnswerSpec[]): Answers {
  const answers: Answers = {}
  for (const [status, forms] of Map.groupBy(specs, (spec) => spec.status)) {
    const contents = forms.flatMap(({ schema, mediaType, description }) =>
      schema || mediaType
        ? [[mediaType ?? 'application/json', schema ? { schema } : textOf(description)] as const]
        : [],
    )
    const headers = Object.entries(forms[0]?.headers ?? {}).map(
      ([name, description]) => [name, { description, schema: { type: 'string' as const } }] as const,
    )
    answers[status] = {
      description: forms.map(({ description }) => description).join('; or: '),
      ...(contents.length > 0 && { content: Object.fromEntries(contents) }),
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    }
  }
  return answers
}

function textOf(description: string) {
  return { schema: { type: 'string' as const, description } }
}

function problemAnswers(codes: readonly ErrorCode[]): Answers {
  const answers: Answers = {}
  for (const [status, same] of Map.groupBy(codes, (code) => httpStatus[code])) {
    answers[status] = {
      description: same.map((code) => `\`${code}\``).join(', '),
      content: { 'application/problem+json': { schema: problem } },
    }
  }
  return answers
}
