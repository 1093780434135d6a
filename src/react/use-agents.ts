import { useMemo } from 'react'
import type { AgentListValue } from '../client/live/agent-list.ts'
import { useModels } from './provider.ts'
import { useLive } from './use-live.ts'

/** The agents of the server, as far as they are known. */
export interface UseAgentsResult extends AgentListValue {
  /** Reads again, after an error. */
  retry(): void
}

/** The agents of the server, with the schemas of their inputs. */
export function useAgents(): UseAgentsResult {
  const models = useModels()
  const handle = useMemo(() => models.agentList(), [models])
  const value = useLive(handle)
  return useMemo(() => ({ ...value, retry: () => handle.current?.live.retry() }), [value, handle])
}
