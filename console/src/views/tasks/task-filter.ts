import type { Status, Task } from 'holdfast/client'
import type { TaskFilter as Query } from 'holdfast/react'
import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'wouter'

/** Which tasks are listed. All of it is in the address, so that a list can be sent to somebody. */
export interface TaskFilter {
  readonly statuses: readonly Status[]
  readonly agent?: string | undefined
  readonly thread?: string | undefined
  readonly text: string
  /** Also tasks that other tasks have spawned. */
  readonly isDeep: boolean
}

export const statuses: readonly Status[] = ['pending', 'running', 'completed', 'failed', 'cancelled']

export function useTaskFilter(): readonly [TaskFilter, (change: Partial<TaskFilter>) => void] {
  const [params, setParams] = useSearchParams()
  const filter = useMemo(() => filterOf(params), [params])
  const change = useCallback(
    (next: Partial<TaskFilter>) => setParams((now) => paramsOf({ ...filterOf(now), ...next }), { replace: true }),
    [setParams],
  )
  return [filter, change]
}

function filterOf(params: URLSearchParams): TaskFilter {
  const asked = params.get('status')?.split(',') ?? []
  const agent = params.get('agent')
  const thread = params.get('thread')
  return {
    statuses: statuses.filter((status) => asked.includes(status)),
    ...(agent && { agent }),
    ...(thread && { thread }),
    text: params.get('text') ?? '',
    isDeep: params.get('tasks') === 'all',
  }
}

function paramsOf({ statuses: asked, agent, thread, text, isDeep }: TaskFilter): URLSearchParams {
  const params = new URLSearchParams()
  if (asked.length > 0) params.set('status', asked.join(','))
  if (agent) params.set('agent', agent)
  if (thread) params.set('thread', thread)
  if (text !== '') params.set('text', text)
  if (isDeep) params.set('tasks', 'all')
  return params
}

export const unfiltered: Partial<TaskFilter> = { statuses: [], agent: undefined, thread: undefined, text: '' }

/** What of it the server filters by. */
export function queryOf({ statuses: asked, thread, isDeep }: TaskFilter): Query {
  return {
    ...(asked.length > 0 && { status: asked }),
    ...(thread !== undefined && { thread }),
    ...(!isDeep && { roots: true }),
  }
}

/** Whether anything is left out beside what was spawned by others. */
export function isNarrow({ statuses: asked, agent, thread, text }: TaskFilter): boolean {
  return asked.length > 0 || agent !== undefined || thread !== undefined || text !== ''
}

/** What the server does not filter by is filtered here. */
export function isFilteredHere({ agent, text }: TaskFilter): boolean {
  return agent !== undefined || text.trim() !== ''
}

export function matching(tasks: readonly Task[], filter: TaskFilter): readonly Task[] {
  if (!isFilteredHere(filter)) return tasks
  const words = filter.text.trim().toLowerCase().split(/\s+/)
  return tasks.filter((task) => {
    if (filter.agent !== undefined && task.agent !== filter.agent) return false
    const { id, description, name = '', agent = '', thread } = task
    const text = [id, description, name, agent, thread].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
