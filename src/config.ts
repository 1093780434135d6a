import type { Limits } from './core/limits.ts'
import type { Retention } from './core/retention.ts'
import type { Agents } from './runtime/agent.ts'
import type { OnEnded } from './runtime/hooks.ts'
import type { ServeOptions } from './server/index.ts'
import type { Store } from './stores/store.ts'

/** The least that is written to the log of a server. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * What a config file may say: `export default { … } satisfies Config`. All of it has a default, and what flags and the
 * environment say counts before it.
 */
export interface Config {
  /** Where commands find the server. */
  readonly url?: string
  readonly port?: number
  readonly host?: string
  /** `memory:`, `sqlite:PATH`, `postgres://…`, or a store. */
  readonly store?: string | Store
  /** The one token, whose principal is `owner`. */
  readonly token?: string
  /** Tokens by principal. */
  readonly tokens?: Readonly<Record<string, string>>
  readonly ids?: 'sequential' | 'random'
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly trustProxy?: boolean
  readonly leaseMs?: number
  readonly graceMs?: number
  readonly shutdownMs?: number
  readonly concurrency?: number
  readonly limits?: Partial<Limits>
  readonly retention?: Retention
  readonly script?: boolean | 'unsafe'
  readonly logLevel?: LogLevel
  /** By name, beside those that are built in. */
  readonly agents?: Agents
  readonly authenticate?: NonNullable<ServeOptions['authenticate']>
  readonly onEnded?: OnEnded
}
