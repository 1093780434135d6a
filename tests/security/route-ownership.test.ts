import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, openSite, type Reply, type Site, type SiteKind, siteKinds } from './harness/site.ts'
import { control, marker, type Names, populate, shared, type World } from './harness/world.ts'
import { partsOf, routeTable, type Way, withKeyOfAlice } from './route-table.ts'

/** What nobody has. */
const missing: Names = {
  thread: shared,
  task: 'bg_999999',
  question: 'q_999999',
  tasksCursor: 'nonsense',
  threadsCursor: 'nonsense',
}

/** The fields of requests by which something of a principal can be named. */
const naming = /^(thread|task|tasks|parent|question|cursor)$/

// Readers first: what is changed by the others would be seen by them.
const methodsInOrder = ['GET', 'POST', 'DELETE']
const routes = Object.keys(routeTable).toSorted(
  (a, b) => methodsInOrder.indexOf(partsOf(a).method) - methodsInOrder.indexOf(partsOf(b).method),
)

function waysOf(route: string, names: Names): readonly Way[] {
  return routeTable[route]?.ways(names) ?? []
}

/** Without what differs by itself between two threads: ids, instants, and the lengths that come of them. */
function comparable({ status, headers, text }: Reply, isRead: boolean): unknown {
  const names = Object.keys(headers)
  if (!isRead) return { status, names }
  const plain = text
    .replaceAll(new RegExp(`\\b(${shared}|${control})\\b`, 'g'), 'THREAD')
    .replaceAll(/\bbg_\d+/g, 'TASK')
    .replaceAll(/\b\d{13}\b/g, 'AT')
    .replaceAll(/("(?:id|cursor)":)"[^"]*"/g, '$1ID')
  return { status, names, text: plain }
}

function expectNothingOf(world: World, { text }: Reply): void {
  expect(text).not.toContain(marker)
  for (const id of world.ids) expect(text).not.toContain(`"${id}"`)
}

function suite(kind: SiteKind): void {
  let site: Site
  let world: World
  let before = ''
  beforeAll(async () => {
    site = await openSite(kind)
    world = await populate(site.runtime)
    before = await world.all()
  })
  afterAll(async () => {
    world.leave()
    await site.close()
  })

  /** Asks as bob; the request id is his, so that nothing differs by itself. */
  const ask = (route: string, { path, body, headers, until }: Way) =>
    site.ask({
      method: partsOf(route).method,
      path,
      headers: { ...bearer('bob'), 'x-request-id': 'the-same', ...headers },
      ...(body !== undefined && { body }),
      ...(until !== undefined && { until }),
    })

  it('there is a row for every route of the router, and no other', () => {
    expect([...site.routes].toSorted()).toEqual(Object.keys(routeTable).toSorted())
  })

  it('each row asks for what its path names, and for every field that can name something', async () => {
    const reply = await site.ask({ method: 'GET', path: '/openapi.json', headers: bearer('bob') })
    const document = JSON.parse(reply.text) as Document
    for (const route of routes) {
      const { method, pattern } = partsOf(route)
      const sights = waysOf(route, missing).map(({ sight }) => sight)
      if (pattern.includes(':id')) expect([route, ...sights]).toContain('missing')
      if (pattern.includes(':thread')) expect([route, ...sights]).toContain('own')
      const asked = JSON.stringify(waysOf(route, missing))
      for (const field of fieldsOf(document, method, pattern)) {
        expect(`${route} asks ${asked}`).toMatch(new RegExp(`[?&]${field}=|"${field}":`))
      }
    }
  })

  it.each(routes)('%s shows a stranger nothing, and says the same as where there is nothing', async (route) => {
    const isRead = partsOf(route).method === 'GET'
    for (const names of world.alices) {
      for (const [place, way] of waysOf(route, names).entries()) {
        const reply = await ask(route, way)
        expectNothingOf(world, reply)
        if (way.sight === 'missing') {
          expect([way.path, reply]).toEqual([way.path, await ask(route, waysOf(route, missing)[place] ?? way)])
          expect(reply).toMatchObject({ status: 404, headers: { 'content-type': 'application/problem+json' } })
        }
        if (way.sight === 'own') {
          const alone = waysOf(route, { ...names, thread: control })[place] ?? way
          expect(comparable(reply, isRead)).toEqual(comparable(await ask(route, alone), isRead))
          expect(reply.status).not.toBe(404)
        }
        expect(reply.status).toBeLessThan(500)
      }
    }
  })

  it('an idempotency key of alice is free for bob, who gets a task of his own under it', async () => {
    const body = { agent: 'echo', prompt: marker }
    const way: Way = { path: `/v1/threads/${shared}/runs`, body, headers: withKeyOfAlice, sight: 'own' }
    const first = await ask('POST /', way)
    expect(first.status).toBe(202)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    const { id } = JSON.parse(first.text) as { id: string }
    expect(world.ids).not.toContain(id)
    const second = await ask('POST /', way)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(JSON.parse(second.text)).toMatchObject({ id })
  })

  it('nothing that alice has was changed by all of this', async () => {
    expect(await world.all()).toBe(before)
  })

  it('GET /v1/events brings a stranger what he has done himself, and nothing of what alice does meanwhile', async () => {
    const done = async (who: 'alice' | 'bob', prompt: string) => {
      const runtime = site.runtime.as(who)
      // In the other thread a run of alice waits for its answer, and hers would wait behind it.
      const { id } = await runtime.run({ thread: 'watched', agent: 'echo', prompt })
      await runtime.wait(id)
      return id
    }
    let alices = ''
    // Alice first: what ends the reading comes after all that she did.
    const onOpen = async () => {
      alices = await done('alice', marker)
      await done('bob', 'the last of bob')
    }
    const headers = { ...bearer('bob'), accept: 'text/event-stream' }
    const reply = await site.ask({ method: 'GET', path: '/v1/events', headers, until: 'task.completed', onOpen })
    expect(reply.status).toBe(200)
    expect(reply.text).toContain('the last of bob')
    expectNothingOf(world, reply)
    expect(reply.text).not.toContain(`"${alices}"`)
  })
}

describe.each(siteKinds)('%s', suite)

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: object }>> }
}

/** The names of the query and of the body that could be of somebody. */
function fieldsOf({ paths, components }: Document, method: string, pattern: string): string[] {
  const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
  const { parameters = [], requestBody } = paths[path]?.[method.toLowerCase()] ?? {}
  const inQuery = parameters.flatMap((each) => (each.in === 'query' ? [each.name] : []))
  const reference = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
  const inBody = Object.keys(components.schemas[reference]?.properties ?? {})
  return [...inQuery, ...inBody].filter((name) => naming.test(name))
}
