import { type Agent, type Agents, demoAgent, echoAgent, scriptAgent } from '../../index.ts'
import { isLoopback } from '../../server/index.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The agents of a server: those that come along, and those of the config file, which may replace them. A script may
 * reach what listens on this machine only where whoever starts it is on this machine as well.
 */
export function agentsOf(
  { host, script, agents }: Pick<Settings, 'host' | 'script' | 'agents'>,
  assistant?: Agent,
): Agents {
  const allowEffects = script === 'unsafe' || isLoopback(host)
  return {
    demo: demoAgent(),
    echo: echoAgent(),
    ...(script !== false && { script: scriptAgent({ allowEffects }) }),
    ...(assistant && { assistant }),
    ...agents,
  }
}
