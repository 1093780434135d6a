import { HoldfastError } from '../../core/errors.ts'
import { agentList, alive, limitList, ready } from '../../protocol/schemas/answers.ts'
import { openApiDocument } from '../openapi.ts'
import { json, route, type Site } from '../route.ts'

/** What the server is and how it is. */
export function systemRoutes(site: Site): void {
  aboutRoutes(site)
  documentRoutes(site)
  probeRoutes(site)
}

function aboutRoutes(site: Site): void {
  const { limits } = site.parts
  route(
    site,
    {
      method: 'get',
      path: '/v1/agents',
      summary: 'List the agents of this node',
      answers: [{ status: 200, description: 'The agents with their input schemas', schema: agentList }],
    },
    async ({ c, runtime }) => {
      const agents = (await runtime.agents()).map(({ isSpawnable: _inProcess, ...shown }) => shown)
      return json(c, 200, { agents })
    },
  )
  route(
    site,
    {
      method: 'get',
      path: '/v1/limits',
      summary: 'Read the limits of this node',
      answers: [{ status: 200, description: 'The limits by name', schema: limitList }],
    },
    ({ c }) => json(c, 200, limits),
  )
}

function documentRoutes(site: Site): void {
  const { runtime: common, basePath } = site.parts
  route(
    site,
    {
      method: 'get',
      path: '/metrics',
      summary: 'Metrics as Prometheus text',
      answers: [{ status: 200, description: 'The metrics', mediaType: 'text/plain' }],
      problems: ['not_found'],
    },
    async ({ c }) => {
      const text = await common.metricsText()
      if (text === undefined) throw new HoldfastError('not_found', 'Metrics are kept elsewhere')
      const headers = { ...c.get('headers'), 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
      return new Response(text, { status: 200, headers })
    },
  )
  route(
    site,
    {
      method: 'get',
      path: '/openapi.json',
      summary: 'This document',
      answers: [{ status: 200, description: 'OpenAPI 3.1' }],
    },
    async ({ c }) => json(c, 200, await openApiDocument(site.specs, basePath)),
  )
}

function probeRoutes(site: Site): void {
  const { runtime: common } = site.parts
  route(
    site,
    {
      method: 'get',
      path: '/healthz',
      summary: 'Whether the process is alive',
      isOpen: true,
      answers: [{ status: 200, description: 'It is', schema: alive }],
    },
    ({ c }) => json(c, 200, { status: 'ok' }),
  )
  route(
    site,
    {
      method: 'get',
      path: '/readyz',
      summary: 'Whether the node takes new work: the store is up, and it is not draining',
      isOpen: true,
      answers: [{ status: 200, description: 'It does', schema: ready }],
      problems: ['draining', 'store_unavailable'],
    },
    async ({ c }) => {
      const { isReady, isDraining } = await common.readiness()
      if (isReady) return json(c, 200, readyBody((await common.info()).store))
      if (isDraining) throw new HoldfastError('draining', 'The node is shutting down; ask another')
      throw new HoldfastError('store_unavailable', 'The store is not available')
    },
  )
}

function readyBody({ kind, isDurable }: { readonly kind: string; readonly isDurable: boolean }) {
  const notice = 'Everything is kept in memory: nothing is promised across a restart'
  return { status: 'ready', store: kind, durable: isDurable, ...(!isDurable && { notice }) }
}
