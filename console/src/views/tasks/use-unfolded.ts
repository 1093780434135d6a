import type { Task } from 'holdfast/client'
import { useCallback, useMemo, useState } from 'react'
import { type Row, treeRows } from './tree-rows.ts'

/** The rows of the list with what is unfolded in it, and what has to be told when children are read. */
export function useUnfolded(
  tasks: readonly Task[],
  expanded: ReadonlySet<string>,
): { readonly rows: readonly Row[]; readonly onRead: (parent: string, children: readonly Task[]) => void } {
  const [childrenOf, setChildrenOf] = useState<ReadonlyMap<string, readonly Task[]>>(new Map())
  const rows = useMemo(() => treeRows(tasks, expanded, childrenOf), [tasks, expanded, childrenOf])
  const onRead = useCallback(
    (parent: string, children: readonly Task[]) => setChildrenOf((known) => new Map(known).set(parent, children)),
    [],
  )
  return { rows, onRead }
}
