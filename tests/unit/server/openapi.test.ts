import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { errorCodes } from '../../../src/core/errors.ts'
import { openSite } from './site.ts'

const media = z.object({ schema: z.record(z.string(), z.unknown()) })

const answer = z.strictObject({
  description: z.string().min(1),
  content: z.record(z.string(), media).optional(),
  headers: z.record(z.string(), z.looseObject({ schema: z.object({ type: z.string() }) })).optional(),
})

const operation = z.strictObject({
  summary: z.string().min(1),
  operationId: z.string().min(1),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.enum(['path', 'query', 'header']),
        required: z.boolean(),
        schema: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  requestBody: z.strictObject({ required: z.boolean(), content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string().regex(/^[2-5][0-9]{2}$/), answer),
})

const document = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.object({ url: z.string() })),
  components: z.looseObject({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })),
  }),
  paths: z.record(z.string().startsWith('/'), z.partialRecord(z.enum(['get', 'post', 'delete']), operation)),
})

async function documentOf(settings: Parameters<typeof openSite>[0] = {}) {
  const site = await openSite(settings)
  const { status, body } = await site.ask('GET', `${settings.basePath ?? ''}/openapi.json`)
  expect(status).toBe(200)
  return { site, parsed: document.parse(body), text: JSON.stringify(body) }
}

describe('the OpenAPI document', () => {
  it('has every route that is registered, and no other', async () => {
    const { site, parsed } = await documentOf()
    const written = Object.entries(parsed.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const registered = site.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path !== '/v1/ws' && !path.startsWith('/console'))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    expect(written.toSorted()).toEqual(registered.toSorted())
    expect(registered).toContain('GET /v1/threads/{thread}/events')
    expect(registered.length).toBeGreaterThanOrEqual(25)
  })

  it('refers only to what it has', async () => {
    const { parsed, text } = await documentOf()
    const names = Object.keys(parsed.components.schemas)
    const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref)
    expect(referred.length).toBeGreaterThan(20)
    for (const ref of referred) expect(names).toContain(ref?.replace('#/components/schemas/', ''))
    expect(names).toEqual(
      expect.arrayContaining(['Task', 'Message', 'Part', 'Event', 'Question', 'Problem', 'RunRequest']),
    )
    const [scheme] = Object.keys(parsed.components.securitySchemes)
    expect(parsed.paths['/v1/tasks']?.get?.security).toContainEqual({ [String(scheme)]: [] })
    expect(parsed.paths['/healthz']?.get?.security).toEqual([])
  })

  it('has each parameter of a path, and each id once', async () => {
    const { parsed } = await documentOf()
    const ids: string[] = []
    for (const [path, methods] of Object.entries(parsed.paths)) {
      for (const each of Object.values(methods)) {
        ids.push(each?.operationId ?? '')
        const inPath = each?.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? []
        expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      }
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('says what may go wrong on each route, by codes that exist', async () => {
    const { parsed } = await documentOf()
    const runs = parsed.paths['/v1/threads/{thread}/runs']?.post
    expect(Object.keys(runs?.responses ?? {})).toEqual([
      '202',
      '400',
      '401',
      '403',
      '409',
      '413',
      '422',
      '429',
      '500',
      '503',
    ])
    expect(runs?.requestBody?.required).toBe(true)
    expect(parsed.paths['/v1/threads/{thread}/cancel']?.post?.requestBody?.required).toBe(false)
    for (const methods of Object.values(parsed.paths)) {
      for (const each of Object.values(methods)) {
        for (const [status, { description, content }] of Object.entries(each?.responses ?? {})) {
          if (Number(status) < 400) continue
          expect(Object.keys(content ?? {})).toEqual(['application/problem+json'])
          for (const code of description.split(', ')) expect(errorCodes).toContain(code.replaceAll('`', ''))
        }
      }
    }
  })

  it('is strict about bodies and open about answers', async () => {
    const { parsed } = await documentOf()
    expect(parsed.components.schemas['RunRequest']).toMatchObject({ additionalProperties: false, required: ['agent'] })
    expect(parsed.components.schemas['Task']).not.toHaveProperty('additionalProperties')
    expect(parsed.components.schemas['SentMessage']).toMatchObject({ required: ['content'] })
  })

  it('tells where it is mounted', async () => {
    const { parsed } = await documentOf({ basePath: '/holdfast' })
    expect(parsed.servers).toEqual([{ url: '/holdfast' }])
    expect(parsed.paths).toHaveProperty(['/v1/tasks'])
  })
})
