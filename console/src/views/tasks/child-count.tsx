import { isTerminal } from 'holdfast/client'
import { useTasks } from 'holdfast/react'

/** How many tasks a task has spawned, and how many of them are not over yet. */
export function useChildCount(id: string): { readonly live: number; readonly all: number } {
  const { tasks } = useTasks({ parent: id })
  return { live: tasks.filter(({ status }) => !isTerminal(status)).length, all: tasks.length }
}

export function ChildCount({ live, all }: { readonly live: number; readonly all: number }) {
  if (all === 0) return null
  if (live === 0) return <span className="text-ink-faint">{all}</span>
  return (
    <span className="whitespace-nowrap">
      <span className="text-run">{live} running</span>
      <span className="text-ink-faint"> / {all}</span>
    </span>
  )
}
