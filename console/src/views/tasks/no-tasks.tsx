import { Anchor, FilterX } from 'lucide-react'
import { Link } from 'wouter'
import { Button } from '../../design/button.tsx'
import { Empty } from '../../design/empty.tsx'
import { FirstRun } from '../../design/first-run.tsx'
import { ListEnd } from './list-end.tsx'
import type { Older } from './use-older-tasks.ts'

interface NoTasksProps {
  readonly isNarrow: boolean
  readonly older: Older
  readonly onClear: () => void
}

export function NoTasks({ isNarrow, older, onClear }: NoTasksProps) {
  if (isNarrow) {
    return (
      <Empty icon={FilterX} title="No task matches these filters">
        <Button onClick={onClear}>Clear the filters</Button>
        <ListEnd older={older} foundCount={0} />
      </Empty>
    )
  }
  return (
    <Empty icon={Anchor} title="Nothing has been run yet">
      <p>Run an agent here, from a terminal, or from your program. What it does shows up at once.</p>
      <Link
        href="/agents"
        className="inline-flex h-8 items-center rounded-md bg-accent-fill px-3 font-medium text-on-accent"
      >
        Run an agent
      </Link>
      <FirstRun flags="--follow" />
    </Empty>
  )
}
