import type { z } from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import { invalidRequest, type Parsed, parse } from '../protocol/schemas/parse.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { App, AppContext } from './app-env.ts'
import { readJson } from './read-body.ts'
import type { ServerParts } from './server-parts.ts'
import { textAnswer } from './text-answer.ts'

/** An answer that a route gives when all went well. */
export interface AnswerSpec {
  readonly status: 200 | 202 | 204
  readonly description: string
  readonly schema?: z.ZodType
  /** `application/json` unless given. */
  readonly mediaType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a route takes and gives: what requests are checked against, and what the OpenAPI document is made from. */
export interface RouteSpec<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> {
  readonly method: 'get' | 'post' | 'delete'
  /** With parameters in braces, as OpenAPI has them. */
  readonly path: string
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly headers?: z.ZodObject
  /** Anybody may ask. */
  readonly isOpen?: true
  readonly answers: readonly AnswerSpec[]
  /** What may go wrong here, beside what may go wrong everywhere. */
  readonly problems?: readonly ErrorCode[]
}

/** A request as its route sees it. */
export interface Asked<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  readonly c: AppContext
  /** Of the principal that asks. */
  readonly runtime: Runtime
  readonly params: Parsed<Params>
  readonly query: Parsed<Query>
  readonly body: Parsed<Body>
}

/** Where routes are registered. */
export interface Site {
  readonly app: App
  readonly parts: ServerParts
  readonly specs: RouteSpec[]
}

/** Registers a route, which is asked only what its schemas have passed. */
export function route<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  { app, parts, specs }: Site,
  spec: RouteSpec<Params, Query, Body>,
  answer: (asked: Asked<Params, Query, Body>) => Response | Promise<Response>,
): void {
  specs.push(spec)
  const { params, query, body } = spec
  app.on(spec.method.toUpperCase(), honoPath(spec.path), async (c) =>
    answer({
      c,
      runtime: spec.isOpen ? parts.runtime : parts.runtime.as(c.get('principal')),
      params: (params && parse(params, c.req.param())) as Parsed<Params>,
      query: (query && parse(query, queryOf(c, query))) as Parsed<Query>,
      body: (body && parse(body, await readJson(c, parts.limits))) as Parsed<Body>,
    }),
  )
}

/** An answer in JSON, with the headers that every answer has. */
export function json(
  c: AppContext,
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Response {
  const all = { ...c.get('headers'), 'content-type': 'application/json', ...headers }
  return textAnswer(c, status, all, JSON.stringify(body))
}

/** `{thread}` is `:thread`. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The known fields of a query. One given twice could be read either way, and is refused. */
function queryOf(c: AppContext, schema: z.ZodObject): Record<string, string> {
  const given: Record<string, string> = {}
  if (!c.req.url.includes('?')) return given
  const values = new URL(c.req.url).searchParams
  for (const name of Object.keys(schema.shape)) {
    const [value, ...more] = values.getAll(name)
    if (more.length > 0) throw invalidRequest([{ path: name, message: 'Given more than once' }])
    if (value !== undefined) given[name] = value
  }
  return given
}
