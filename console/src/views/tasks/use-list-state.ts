import { useCallback, useEffect, useRef, useState } from 'react'
import { notePlace, useLastPlace } from './list-place.ts'
import type { Row } from './tree-rows.ts'

/** What somebody is doing with the list: where the keys are, what is selected, and what is unfolded. */
export function useListState() {
  const left = useLastPlace()
  const [cursor, setCursor] = useState(left?.cursor)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(left?.expanded ?? new Set())
  const lastSelected = useRef<string>(undefined)
  useEffect(() => {
    if (cursor !== undefined || expanded.size > 0) notePlace({ cursor, expanded })
  }, [cursor, expanded])

  const move = useCallback((rows: readonly Row[], by: number) => {
    setCursor((now) => {
      const at = rows.findIndex(({ task }) => task.id === now)
      const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))
      return rows[next]?.task.id
    })
  }, [])

  /** With `isRange` everything between it and the last that was selected. */
  const select = useCallback((rows: readonly Row[], id: string, isRange: boolean) => {
    const ids: string[] = rows.map(({ task }) => task.id)
    const [from, to] = [ids.indexOf(lastSelected.current ?? id), ids.indexOf(id)].toSorted((a, b) => a - b)
    lastSelected.current = id
    if (isRange && from !== undefined && from >= 0 && to !== undefined) {
      setSelected((now) => now.union(new Set(ids.slice(from, to + 1))))
    } else {
      setSelected((now) => now.symmetricDifference(new Set([id])))
    }
  }, [])

  /** All of these; none of them, if they are selected already. */
  const selectAll = useCallback((rows: readonly Row[]) => {
    const ids = new Set<string>(rows.map(({ task }) => task.id))
    setSelected((now) => (ids.isSubsetOf(now) ? now.difference(ids) : now.union(ids)))
  }, [])

  const toggle = useCallback((id: string) => setExpanded((now) => now.symmetricDifference(new Set([id]))), [])
  const clear = useCallback(() => setSelected(new Set()), [])
  return { cursor, setCursor, selected, expanded, move, select, selectAll, toggle, clear, topBefore: left?.top ?? 0 }
}
