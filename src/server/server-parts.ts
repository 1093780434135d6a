import type { Limits } from '../core/limits.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Authentication } from './auth/authentication.ts'
import type { OriginGuard } from './origin-guard.ts'
import type { Streams } from './streams/streams.ts'

/** What the routes, the streams and the WebSockets of one server share. */
export interface ServerParts {
  /** Of no principal in particular: whoever is asked for is `runtime.as(principal)`. */
  readonly runtime: Runtime
  /** The id of the node, on every answer. */
  readonly node: string
  readonly limits: Limits
  readonly authentication: Authentication
  readonly guard: OriginGuard
  readonly streams: Streams
  readonly clock: Clock
  readonly log: Logger
  /** Without a slash at its end; empty at the root. */
  readonly basePath: string
}
