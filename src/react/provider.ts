import { createContext, createElement, type ReactElement, type ReactNode, useContext, useMemo } from 'react'
import type { AnyAgents, Client } from '../client/index.ts'
import { LiveModels } from '../client/live/live-models.ts'

interface Provided {
  readonly client: Client
  readonly models: LiveModels
}

/** The client, and the components whose hooks use it. */
export interface HoldfastProviderProps<Agents extends AnyAgents = AnyAgents> {
  readonly client: Client<Agents>
  readonly children?: ReactNode
}

const Context = createContext<Provided | undefined>(undefined)

// Two providers of one client show the same things, so they share them. They go with the client.
const modelsOf = new WeakMap<Client, LiveModels>()

/** Gives the hooks below it their client. Whoever made the client closes it. */
export function HoldfastProvider<Agents extends AnyAgents>(props: HoldfastProviderProps<Agents>): ReactElement {
  const { children } = props
  // The hooks ask for whatever a page names, as a client without types does.
  const client = props.client as unknown as Client
  const provided = useMemo(() => {
    const models = modelsOf.get(client) ?? new LiveModels(client)
    modelsOf.set(client, models)
    return { client, models }
  }, [client])
  return createElement(Context, { value: provided }, children)
}

/** The client of the provider above; typed by the agents of the server if they are named, as with `createClient`. */
export function useClient<Agents extends AnyAgents = AnyAgents>(): Client<Agents> {
  return useProvided().client as unknown as Client<Agents>
}

export function useModels(): LiveModels {
  return useProvided().models
}

function useProvided(): Provided {
  const provided = useContext(Context)
  if (!provided) throw new Error('There is no HoldfastProvider above this component; wrap the page in one')
  return provided
}
