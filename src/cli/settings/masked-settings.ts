import type { Settings } from './settings.ts'
import { storeText } from './store-url.ts'

/** The settings as they may be shown: who has a token, and no token; which agents there are, and not their code. */
export function maskedSettings(settings: Settings): Readonly<Record<string, unknown>> {
  const { tokens, store, agents, authenticate, onEnded, ...plain } = settings
  return {
    ...plain,
    ...(store !== undefined && { store: storeText(store) }),
    principals: Object.keys(tokens),
    agents: Object.keys(agents),
    ...(authenticate && { authenticate: 'a function of the config file' }),
    ...(onEnded && { onEnded: 'a function of the config file' }),
  }
}
