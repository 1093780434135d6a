import { useEffect, useState } from 'react'
import { useLocation, useSearch } from 'wouter'

/** Where somebody was in the list: how it was filtered and unfolded, how far down they were, and where the keys were. */
interface ListPlace {
  readonly path: string
  readonly top: number
  readonly cursor?: string | undefined
  readonly expanded: ReadonlySet<string>
}

let last: ListPlace = { path: '/tasks', top: 0, expanded: new Set() }

/** The list as it was left, for who goes back to it. */
export function lastListPath(): string {
  return last.path
}

/** Stands with an entry of the history to which somebody comes back. One without it begins at the top of the list. */
export const comesBack = { comesBack: true } as const

function isReturn(): boolean {
  return (history.state as { comesBack?: unknown } | null)?.comesBack === true
}

/** The place that was left, if it is being come back to. */
export function useLastPlace(): ListPlace | undefined {
  const [at] = useLocation()
  const search = useSearch()
  const path = `${at === '/' ? '/tasks' : at}${search === '' ? '' : `?${search}`}`
  const [found] = useState(() => (isReturn() && last.path === path ? last : undefined))
  useEffect(() => {
    if (!found || last.path !== path) last = { path, top: 0, expanded: new Set() }
  }, [found, path])
  return found
}

export function notePlace(change: Partial<Omit<ListPlace, 'path'>>): void {
  last = { ...last, ...change }
  // Not on each change: some browsers allow only a hundred of these in half a minute.
  if (!isReturn()) history.replaceState(comesBack, '')
}
