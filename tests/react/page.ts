import './dom.ts'
import { cleanup, configure, type RenderHookResult, renderHook } from '@testing-library/react'
import { createElement, type ReactNode, StrictMode } from 'react'
import { onTestFinished } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../../src/client/index.ts'
import { HoldfastProvider } from '../../src/react/index.ts'
import { type LocalServer, localServer } from '../server/harness/local-server.ts'

// Only what never comes is waited for so long.
configure({ asyncUtilTimeout: 10_000 })

/** A page with a client of a server that is really there, and all that it has asked of it. */
export interface TestPage extends LocalServer {
  readonly client: Client
  /** Methods and paths, in the order in which they were asked. */
  readonly requests: readonly string[]
  /** Every WebSocket that was opened. */
  readonly sockets: readonly { close(): void }[]
  readonly wrapper: (props: { readonly children: ReactNode }) => ReactNode
  /** Uses a hook as a component in strict mode does. */
  use<Value, Props = undefined>(
    hook: (props: Props) => Value,
    initialProps?: NoInfer<Props>,
  ): RenderHookResult<Value, Props>
}

export async function testPage(options: Parameters<typeof localServer>[0] = {}): Promise<TestPage> {
  const local = await localServer(options)
  const page = pageOf(local)
  return { ...local, ...page }
}

/** Another page with the same server. */
export function pageOf({ server }: LocalServer, options: Partial<ClientOptions> = {}) {
  const requests: string[] = []
  const sockets: WebSocket[] = []
  class Noted extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      sockets.push(this)
    }
  }
  const client = createClient({
    url: server.url,
    token: 'secret',
    fetch: (input, init) => {
      const { pathname, search } = new URL(input)
      requests.push(`${init?.method ?? 'GET'} ${pathname}${search}`)
      return fetch(input, init)
    },
    WebSocket: Noted,
    ...options,
  })
  onTestFinished(() => {
    cleanup()
    client.close()
  })
  const wrapper = ({ children }: { readonly children: ReactNode }) =>
    createElement(StrictMode, null, createElement(HoldfastProvider, { client }, children))
  const use: TestPage['use'] = <Value, Props>(hook: (props: Props) => Value, initialProps?: Props) =>
    renderHook(hook, { wrapper, ...(initialProps !== undefined && { initialProps: initialProps as Props }) })
  return { client, requests, sockets, wrapper, use }
}
