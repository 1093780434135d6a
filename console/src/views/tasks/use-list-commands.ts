import type { Task } from 'holdfast/client'
import type { RefObject } from 'react'
import { copyAndSay } from '../../design/copy-menu.tsx'
import { linkTo, taskPath } from '../../place.ts'
import { useCommands } from '../../shell/commands.ts'

interface ListCommands {
  /** The task at which the keys are. */
  readonly at: Task | undefined
  readonly inputRef: RefObject<HTMLInputElement | null>
  readonly move: (by: number) => void
  readonly open: (id: string) => void
  readonly select: (id: string, isRange: boolean) => void
  readonly toggle: (id: string) => void
  readonly cancel: () => void
}

/** What keys do in the list. */
export function useListCommands({ at, inputRef, move, open, select, toggle, cancel }: ListCommands): void {
  const parent = at?.parent?.task
  const group = 'List'
  useCommands([
    { id: 'next', title: 'Next task', group, keys: 'j', run: () => move(1) },
    { id: 'previous', title: 'Previous task', group, keys: 'k', run: () => move(-1) },
    { id: 'open', title: 'Open the task', group, keys: 'Enter', run: () => at && open(at.id) },
    ...(parent === undefined
      ? []
      : [{ id: 'up', title: 'To the parent', group, keys: 'u', run: () => open(parent) } as const]),
    { id: 'filter', title: 'Filter', group, keys: '/', run: () => inputRef.current?.focus() },
    { id: 'select', title: 'Select the task', group, keys: 'x', run: () => at && select(at.id, false) },
    { id: 'unfold', title: 'Unfold or fold', group, keys: 'o', run: () => at && toggle(at.id) },
    { id: 'cancel', title: 'Cancel what is selected', group, keys: 'c', run: cancel },
    {
      id: 'copy-link',
      title: 'Copy the link',
      group,
      keys: 'y',
      // Without a task at which the keys are, of the list as it is filtered.
      run: () => void copyAndSay('link', at ? linkTo(taskPath(at.id)) : location.href),
    },
  ])
}
