import type { Task } from 'holdfast/client'
import { Link } from 'wouter'
import { ShortId } from '../../design/short-id.tsx'
import { Status, shownStatus } from '../../design/status.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { Duration } from '../../design/time.tsx'
import { taskPath } from '../../place.ts'

/** What a task has spawned, in that order. */
export function ChildList({ tasks }: { readonly tasks: readonly Task[] }) {
  return (
    <ul className="flex flex-col overflow-hidden rounded-lg border border-line bg-panel">
      {tasks.map((task) => (
        <li key={task.id} className="border-b border-line last:border-b-0">
          <Link
            href={taskPath(task.id)}
            className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-2 outline-offset-[-2px] hover:bg-hover md:grid-cols-[7rem_minmax(0,1fr)_6rem_4.5rem]"
          >
            <span className="flex md:col-start-1 md:row-start-1">
              <Status status={shownStatus(task)} />
            </span>
            <span className="col-span-2 row-start-2 line-clamp-2 break-words md:col-span-1 md:col-start-2 md:row-start-1 md:line-clamp-1">
              {taskTitle(task)}
            </span>
            <span className="text-right text-ink-soft">
              {task.startedAt !== undefined && <Duration from={task.startedAt} to={task.completedAt} />}
            </span>
            <span className="hidden text-right md:block">
              <ShortId id={task.id} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
