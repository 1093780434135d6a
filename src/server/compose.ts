import { HoldfastError } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import { harmless, silentLogger } from '../runtime/logger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Authentication } from './auth/authentication.ts'
import type { HandlerOptions } from './options.ts'
import { OriginGuard } from './origin-guard.ts'
import type { ServerParts } from './server-parts.ts'
import { Streams } from './streams/streams.ts'

/** Checks the options at once; what it returns waits for the runtime, which tells its node and limits. */
export function compose(runtime: Runtime, options: HandlerOptions): () => Promise<ServerParts> {
  if (!hasCredentials(options)) {
    throw new HoldfastError(
      'invalid_request',
      'Nobody could be let in. Pass tokens: { principal: token }, or authenticate: (request) => principal',
    )
  }
  const basePath = checkedBasePath(options.basePath)
  const clock = options.clock ?? systemClock
  const log = harmless(options.log ?? silentLogger)
  const guard = new OriginGuard(options)
  const authentication = new Authentication({ ...options, basePath, clock })
  return async () => {
    const { node, limits } = await runtime.info()
    const streams = new Streams({ clock, limits, log, onCut: () => void runtime.countSlowReader() })
    return { runtime, node, limits, authentication, guard, streams, clock, log, basePath }
  }
}

/** Whether there is anybody who could be let in. */
export function hasCredentials({ tokens = {}, authenticate }: HandlerOptions): boolean {
  return authenticate !== undefined || Object.keys(tokens).length > 0
}

/** Without a slash at its end, and empty for the root. */
function checkedBasePath(basePath = ''): string {
  if (/^(\/[A-Za-z0-9._~-]+)*\/?$/.test(basePath)) return basePath.replace(/\/$/, '')
  throw new HoldfastError('invalid_request', `${JSON.stringify(basePath)} is no base path. Write it as /holdfast`)
}
