import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

export const taskTabs = ['overview', 'timeline', 'events'] as const

export type TaskTab = (typeof taskTabs)[number]

interface TaskPlace {
  readonly tab: TaskTab
  /** Whose events are shown: a task of the tree, or `tree` for all of them; the task itself unless given. */
  readonly of?: string
  readonly text: string
}

/** Where somebody is in the view of a task; all of it is in the address. */
export function useTaskPlace(): readonly [TaskPlace, (next: Partial<TaskPlace>) => void] {
  const [params, setParams] = useSearchParams()
  const go = useCallback(
    (next: Partial<TaskPlace>) => {
      setParams((now) => written({ ...placeOf(now), ...next }), { replace: true })
    },
    [setParams],
  )
  return [placeOf(params), go]
}

function placeOf(params: URLSearchParams): TaskPlace {
  const of = params.get('of')
  const tab = taskTabs.find((name) => name === params.get('tab')) ?? 'overview'
  return { tab, ...(of && { of }), text: params.get('text') ?? '' }
}

function written({ tab, of, text }: TaskPlace): URLSearchParams {
  const params = new URLSearchParams()
  if (tab !== 'overview') params.set('tab', tab)
  if (of) params.set('of', of)
  if (text !== '') params.set('text', text)
  return params
}
