import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badCredentials, type Credential, goodCredentials } from './harness/credentials.ts'
import { bearer, openSite, type Reply, type Site, type SiteKind, siteKinds } from './harness/site.ts'
import type { Names } from './harness/world.ts'
import { partsOf, routeTable, type Way } from './route-table.ts'

/** Nothing is there under these names, so that nothing comes of being let in. */
const names: Names = {
  thread: 'nowhere',
  task: 'bg_999999',
  question: 'q_999999',
  tasksCursor: 'x',
  threadsCursor: 'x',
}

const routes = Object.keys(routeTable)
const methods = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']

/** Paths that a careless reader takes for one of the few that anybody may ask for. */
const disguised = [
  '/healthz/../v1/tasks',
  '/healthz/%2e%2e/v1/tasks',
  '/healthz%2f..%2fv1%2ftasks',
  '/readyz/./../v1/limits',
  '/console/../v1/tasks',
  '/console/%2e%2e/v1/tasks',
  '/console/..%2fv1%2ftasks',
  '/console/..\\v1\\tasks',
  '/console//../../v1/tasks',
  '/console;/../v1/tasks',
  '/v1/login/../tasks',
  '/v1/login/../../v1/tasks',
  '/v1/tasks/../login/../tasks',
  '/v1/tasks?/healthz',
  '/v1/tasks?path=/console/',
  '/v1/tasks#/healthz',
  '//v1/tasks',
  '/v1//tasks',
  '/v1/tasks/',
  '/v1/tasks%3f/console',
  '/V1/tasks',
  '/%76%31/tasks',
  '/v1/t%61sks',
]

/** What anybody gets. Where the console is not built, its page says so. */
function openedStatuses(path: string): readonly number[] {
  return path.startsWith('/console') ? [200, 404] : [200]
}

function suite(kind: SiteKind): void {
  let site: Site
  beforeAll(async () => {
    site = await openSite(kind)
  })
  afterAll(() => site.close())

  const ask = (method: string, { path, body, headers }: Way, { headers: shown, query }: Credential): Promise<Reply> =>
    site.ask({
      method,
      path: query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
      headers: { 'x-request-id': 'the-same', ...headers, ...shown },
      ...(body !== undefined && { body }),
    })

  const ways = (route: string): readonly Way[] => routeTable[route]?.ways(names) ?? []

  it('there is a row for every route of the router', () => {
    expect([...site.routes].toSorted()).toEqual(routes.toSorted())
  })

  it.each(routes)('%s lets nobody in without a credential that is right, and says no more than that', async (route) => {
    const { isOpen } = routeTable[route] ?? {}
    for (const credential of badCredentials(site.origin)) {
      for (const way of ways(route)) {
        const reply = await ask(partsOf(route).method, way, credential)
        const context = `${credential.what}: ${way.path}`
        const isProbe = /^\/(healthz|readyz)/.test(way.path)
        if (credential.comesTo === 'forbidden_origin' && !isProbe)
          expectRefusal(context, reply, 403, 'forbidden_origin')
        else if (isOpen && route !== 'POST /v1/login') expect(openedStatuses(way.path), context).toContain(reply.status)
        else expectRefusal(context, reply, 401, 'unauthenticated')
      }
    }
  })

  it.each(routes)('%s lets carol in by every credential that is hers', async (route) => {
    for (const credential of goodCredentials(site.origin)) {
      for (const way of ways(route)) {
        const { status } = await ask(partsOf(route).method, way, credential)
        const context = `${credential.what}: ${way.path} ${status}`
        // A wrong token in the body of a login is refused, whoever brings it.
        if (route === 'POST /v1/login') expect(context).toMatch(/401$/)
        else expect(context).not.toMatch(/40[13]$|5\d\d$/)
      }
    }
  })

  it('no path tells who has no credential by which methods it can be asked', async () => {
    const nobody: Credential = { what: 'nothing', headers: {}, comesTo: 'unauthenticated' }
    for (const route of routes.filter((each) => !routeTable[each]?.isOpen)) {
      for (const method of methods) {
        const { path, headers } = ways(route)[0] ?? { path: '' }
        const way: Way = { path, sight: 'mine', ...(headers && { headers }) }
        const { status } = await ask(method, way, nobody)
        expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 401`)
      }
    }
  })

  it.each(disguised)('%s is no way around the credential', async (path) => {
    const bare = await site.ask({ method: 'GET', path })
    expect(bare.text).not.toContain('"tasks"')
    expect(bare.text).not.toContain('"bodyBytes"')
    // Nobody is told more than whether there is a page of the console, or that a credential is needed.
    expect([200, 400, 401, 404]).toContain(bare.status)
    if (bare.status === 200) expect(bare.headers['content-type']).toMatch(/^text\/html/)
    expect((await site.ask({ method: 'GET', path, headers: bearer('carol') })).status).toBeLessThan(500)
  })
}

describe.each(siteKinds)('%s', suite)

/** Of each kind the first, which all others are byte for byte the same as. A login is told of what was in its body. */
const refusals = new Map<string, string>()

function expectRefusal(context: string, reply: Reply, status: 401 | 403, code: string): void {
  const problem = JSON.parse(reply.text === '' ? '{}' : reply.text) as Readonly<Record<string, unknown>>
  expect([context, reply.status, problem['code'], problem['requestId']]).toEqual([context, status, code, 'the-same'])
  const kind = context.endsWith('/v1/login') ? `login ${status}` : String(status)
  if (!refusals.has(kind)) refusals.set(kind, reply.text)
  expect([context, reply.text]).toEqual([context, refusals.get(kind)])
  expect(reply.headers['www-authenticate']).toBe(status === 401 ? 'Bearer realm="holdfast"' : undefined)
  expect(reply.headers['set-cookie']).toBeUndefined()
}
