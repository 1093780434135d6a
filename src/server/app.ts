import { Hono } from 'hono'
import { HoldfastError } from '../core/errors.ts'
import { threadRule } from '../core/id.ts'
import { admission } from './admission.ts'
import type { App, AppContext, AppEnv } from './app-env.ts'
import { consoleRoutes } from './console.ts'
import { problemResponse } from './problem-response.ts'
import type { Site } from './route.ts'
import { logRoutes } from './routes/log.ts'
import { loginRoutes } from './routes/login.ts'
import { pruneRoutes } from './routes/prune.ts'
import { questionRoutes } from './routes/questions.ts'
import { resultRoutes } from './routes/results.ts'
import { runRoutes } from './routes/runs.ts'
import { systemRoutes } from './routes/system.ts'
import { taskRoutes } from './routes/tasks.ts'
import { threadRoutes } from './routes/threads.ts'
import type { ServerParts } from './server-parts.ts'

/** All routes of the protocol but the WebSocket, as an app that answers a Request with a Response. */
export function createApp(parts: ServerParts): App {
  const app: App = new Hono<AppEnv>()
  app.use(admission(parts))
  app.onError((error, c) => problemResponse(c, error, parts.log))
  const isKnown = knownPaths(app)
  app.notFound((c) => problemResponse(c, isKnown(c), parts.log))
  const mounted = parts.basePath === '' ? app : app.basePath(parts.basePath)
  const site: Site = { app: mounted, parts, specs: [] }
  runRoutes(site)
  threadRoutes(site)
  taskRoutes(site)
  resultRoutes(site)
  questionRoutes(site)
  pruneRoutes(site)
  systemRoutes(site)
  loginRoutes(site)
  logRoutes(site)
  consoleRoutes(site)
  mounted.get('/v1/ws', () => {
    throw new HoldfastError('invalid_request', 'This path speaks WebSocket: ask for an upgrade')
  })
  return app
}

interface KnownPath {
  readonly method: string
  readonly pattern: RegExp
}

/** Why no route answered: the path is not known, or not by this method, or names a thread without an id. */
function knownPaths(app: App): (c: AppContext) => HoldfastError {
  let paths: readonly KnownPath[] | undefined
  return (c) => {
    paths ??= app.routes.filter(({ method }) => method !== 'ALL').map(knownPath)
    const matching = paths.filter(({ pattern }) => pattern.test(c.req.path))
    if (matching.length === 0) return new HoldfastError('not_found', 'There is no such path')
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    if (matching.some((path) => path.method === method)) return missingId(c.req.path)
    const allow = matching.flatMap((path) => (path.method === 'GET' ? ['GET', 'HEAD'] : [path.method])).join(', ')
    return new HoldfastError('method_not_allowed', `This path takes ${allow}`, { facts: { allow } })
  }
}

/** A parameter may be empty here, where the router wants at least one character. A star stands for any rest. */
function knownPath({ method, path }: { readonly method: string; readonly path: string }): KnownPath {
  const literal = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return { method, pattern: new RegExp(`^${literal.replaceAll('*', '.*').replaceAll(/:\w+/g, '[^/]*')}$`) }
}

function missingId(path: string): HoldfastError {
  if (!path.includes('/v1/threads/')) return new HoldfastError('not_found', 'There is no such path')
  return new HoldfastError('invalid_request', threadRule)
}
