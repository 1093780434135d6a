import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

/** Settings of the wire; a handler and a server share them. */
export interface HandlerOptions {
  /** Where it is mounted, such as `/holdfast`; at the root unless given. */
  readonly basePath?: string
  /** Tokens by principal. */
  readonly tokens?: Readonly<Record<string, string>>
  /** Says which principal asks, where the program around it knows already; undefined is answered with 401. */
  readonly authenticate?: (request: Request) => string | undefined | Promise<string | undefined>
  /** Values of `Host` that are answered, beside loopback. */
  readonly hosts?: readonly string[]
  /** Values of `Origin` that are answered, beside the same origin; they alone get CORS. */
  readonly origins?: readonly string[]
  /** Lets `X-Forwarded-Host` and `X-Forwarded-Proto` count. Only behind a proxy that sets them. */
  readonly trustProxy?: boolean
  /** Who is told what operators need to know. Without it `createHandler` tells nobody, and `serve` tells stderr what goes wrong. */
  readonly log?: Logger
  /** Where time comes from; the machine's unless given. */
  readonly clock?: Clock
}

/** Without `tokens` and `authenticate` a server on loopback makes a token, for the principal `owner`. */
export interface ServeOptions extends HandlerOptions {
  /** 4747 unless given; 0 picks a free one. */
  readonly port?: number
  /** 127.0.0.1 unless given. */
  readonly host?: string
  /** Where a token that is made is kept, in a file of its owner alone; the XDG state folder unless given. */
  readonly stateFolder?: string
  /** Ends the process on SIGTERM and SIGINT, after a drain. True unless given. */
  readonly handlesSignals?: boolean
  /** How long a drain lets tasks finish. */
  readonly shutdownMs?: number
}
