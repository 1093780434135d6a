import type { Settings } from './settings.ts'

/** The settings as they may be shown: who has a token, and no token; which agents there are, and not their code. */
export function maskedSettings({ tokens, store, agents, ...plain }: Settings): Readonly<Record<string, unknown>> {
  return {
    ...plain,
    store: typeof store === 'string' ? withoutPassword(store) : 'a store of the config file',
    principals: Object.keys(tokens),
    agents: Object.keys(agents),
  }
}

function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^/@:]*):[^/]*@/, '$1:***@')
}
