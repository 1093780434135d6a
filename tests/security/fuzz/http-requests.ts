import { nastyTexts, wrongNumbers } from '../../../src/chaos/hostile/words.ts'
import { mutated } from './mutate.ts'
import { type Maker, madeValue, pickFrom, type Schema } from './schema-values.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, unknown>>
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request as bytes, and what the document says may be answered to it. */
export interface FuzzedRequest {
  readonly what: string
  readonly bytes: Buffer
  /** Whether bytes of it were changed, so that its end may be missing. */
  readonly isTorn: boolean
  /** Undefined if nothing is known of what was asked for in the end. */
  readonly documented: readonly number[] | undefined
}

const methods = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW']

// What every server answers before any route is looked for: wrong bytes, wrong paths, a credential that is not there.
const before = [400, 401, 404, 405]

/** A request for some operation of the document: right, wrong in its values, or wrong in its bytes. */
export function fuzzedRequest(given: Maker, document: OpenApi, host: string, token: string): FuzzedRequest {
  const { random } = given
  // Half of them are right, as far as a schema says.
  const maker = random.chance(0.5) ? { ...given, wrongness: 0 } : given
  const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const { path, method, operation } = pickFrom(maker, operations)
  const { parameters = [] } = operation
  const isOwnMethod = random.chance(0.92)
  const target = targetOf(maker, path, parameters)
  const body = bodyOf(maker, operation)
  const lines = [
    `${isOwnMethod ? method : pickFrom(maker, methods)} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...(random.chance(0.95) ? [`Authorization: Bearer ${token}`] : []),
    ...headersOf(maker, parameters),
    ...(body === undefined ? [] : [`Content-Type: application/json`, `Content-Length: ${body.length}`]),
    'Connection: close',
  ]
  const whole = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)])
  const isTorn = random.chance(0.15)
  const documented = [...Object.keys(operation.responses).map(Number), ...before]
  return {
    what: `${method} ${path}`,
    isTorn,
    bytes: isTorn ? mutated(random, whole) : whole,
    documented: isTorn || !isOwnMethod ? undefined : documented,
  }
}

function targetOf(maker: Maker, path: string, parameters: readonly Parameter[]): string {
  const { random } = maker
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const { schema = {} } = parameters.find((each) => each.in === 'path' && each.name === name) ?? {}
    return escaped(textOf(madeValue(maker, schema, name)))
  })
  const query = parameters
    .filter((each) => each.in === 'query' && random.chance(0.4))
    .flatMap(({ name, schema }) => {
      const value = random.chance(0.15) ? pickFrom(maker, wrongNumbers) : textOf(madeValue(maker, schema, name))
      const pair = `${name}=${escaped(value)}`
      return random.chance(0.05) ? [pair, pair] : [pair]
    })
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function headersOf(maker: Maker, parameters: readonly Parameter[]): string[] {
  const { random } = maker
  const declared = parameters
    .filter((each) => each.in === 'header' && random.chance(0.4))
    .map(({ name, schema }) => `${name}: ${textOf(madeValue(maker, schema, name))}`)
  const accept = pickFrom(maker, [
    '*/*',
    'text/event-stream',
    'application/x-ndjson',
    'application/json;q=0.1',
    ';,;q=',
  ])
  const odd = random.chance(0.1) ? [`X-Request-Id: ${pickFrom(maker, nastyTexts)}`] : []
  // What a line break in a value makes of the headers is the caller's own doing.
  return [...declared, `Accept: ${accept}`, ...odd].map((line) => line.replaceAll(/[\r\n]+/g, ' '))
}

function bodyOf(maker: Maker, { requestBody }: Operation): Buffer | undefined {
  const schema = requestBody?.content['application/json']?.schema
  const { random } = maker
  if (!schema && random.chance(0.95)) return undefined
  const right = Buffer.from(JSON.stringify(madeValue(maker, schema ?? {})) ?? '')
  return random.chance(0.15) ? mutated(random, right) : right
}
