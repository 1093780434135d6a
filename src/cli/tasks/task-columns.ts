import type { Task } from '../../client/index.ts'
import { age } from '../show/ages.ts'
import { percent } from '../show/progress-bar.ts'
import type { Style } from '../show/show.ts'
import { statusWord } from '../show/status-word.ts'
import type { Column } from '../show/table.ts'
import type { Branch } from './task-tree.ts'

/** The columns of a list of tasks. The order is promised to those who read it in a pipe. */
export function taskColumns(now: number, style: Style, isTree = false): readonly Column<Branch>[] {
  return [
    { title: 'ID', value: ({ task }) => task.id, shown: ({ task, lines }) => `${lines}${task.id}` },
    {
      title: 'STATUS',
      value: ({ task }) => task.status,
      shown: ({ task }) => shownStatus(task),
      paint: ({ task }) => style[statusWord(task).style],
    },
    { title: 'AGENT', value: ({ task }) => task.agent ?? '', shrinks: true },
    { title: 'NAME', value: ({ task }) => task.name ?? '', hides: true, shrinks: true },
    { title: 'THREAD', value: ({ task }) => task.thread, shrinks: true },
    // The lines of a tree say it as well.
    { title: 'PARENT', value: parentOf, shown: (branch) => (isTree ? '' : parentOf(branch)), hides: true },
    {
      title: 'AGE',
      value: ({ task }) => iso(task.createdAt),
      shown: ({ task }) => age(now - task.createdAt),
    },
    { title: 'RAN', value: ({ task }) => iso(task.startedAt), shown: ({ task }) => ran(task, now) },
    { title: 'DESCRIPTION', value: ({ task }) => task.description, shrinks: true },
  ]
}

/** Glyph and word, and how far it is. */
export function shownStatus(task: Pick<Task, 'status' | 'cancelRequestedAt' | 'progress'>): string {
  const { glyph, word } = statusWord(task)
  const { status, progress } = task
  return status === 'running' && progress !== undefined ? `${glyph} ${word} ${percent(progress)}` : `${glyph} ${word}`
}

/** How long it has run, apart from how long it waited. */
export function ran({ startedAt, completedAt }: Task, now: number): string {
  return startedAt === undefined ? '' : age((completedAt ?? now) - startedAt)
}

function parentOf({ task }: Branch): string {
  return task.parent?.task ?? ''
}

function iso(at: number | undefined): string {
  return at === undefined ? '' : new Date(at).toISOString()
}
