import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'

/** What every handler finds in its context. */
export interface AppEnv {
  /** Node's own request and response, where Node serves. */
  readonly Bindings: Partial<HttpBindings>
  readonly Variables: {
    readonly requestId: string
    /** Who asks. Empty on the few routes that anybody may ask. */
    readonly principal: string
    /** The headers of every answer: request id, node, CORS. */
    readonly headers: Readonly<Record<string, string>>
  }
}

export type App = Hono<AppEnv>
export type AppContext = Context<AppEnv>
