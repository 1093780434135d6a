import type { BackgroundTool, ToolPlace } from './background-tool.ts'
import { backgroundTools, lookAt } from './background-tools.ts'
import type { PersistedTasks } from './persisted-task.ts'
import type { Runtime } from './runtime.ts'
import { restoreTasks, snapshotTasks } from './task-snapshot.ts'
import type { TaskView } from './task-view.ts'

/** When something went wrong that the run does not fail for. */
type Moment = 'run_start' | 'run_end' | 'tool' | 'step'

export interface BackgroundTasksOptions {
  /** The agents that may be spawned with the tools; all that are registered unless given, but for those that say no. */
  readonly agents?: readonly string[]
  /** Gives back what `persist` was given for a thread. Needed only if tasks are to move between stores. */
  readonly load?: (thread: string) => PersistedTasks | undefined | Promise<PersistedTasks | undefined>
  /** Keeps the tasks of a thread outside the store, which is durable by itself. */
  readonly persist?: (thread: string, tasks: PersistedTasks) => void | Promise<void>
  /** Told when tasks could not be loaded, persisted or looked at. The run goes on. */
  readonly onError?: (error: unknown, about: { readonly at: Moment; readonly thread: string }) => void
}

/** Background tasks as an agent gets them: tools, and a view of what goes on in its thread. */
export interface BackgroundTasks {
  readonly name: 'background_tasks'
  readonly tools: readonly BackgroundTool[]
  /** Restores what `load` gives, and fills the view of the thread. */
  onRunStart(run: { readonly thread: string }): Promise<void>
  /** Hands the thread's tasks to `persist`, and clears the view. */
  onRunEnd(run: { readonly thread: string }): Promise<void>
  /** Looks at the thread's tasks again, as before a step of the model. */
  refresh(run: { readonly thread: string }): Promise<TaskView>
  /** What the agent is shown, as of the run's start, the last use of a tool or the last refresh; empty outside a run. */
  view(thread: string): TaskView
}

/**
 * The background tasks of a runtime as one plugin. Making it reads and changes nothing; its hooks do, when they are run.
 *
 * No hook rejects: an agent that could not be shown its tasks is still asked, and what went wrong goes to `onError`.
 */
export function backgroundTasks(runtime: Runtime, options: BackgroundTasksOptions = {}): BackgroundTasks {
  const views = new Map<string, TaskView>()
  const viewOf = (thread: string): TaskView => views.get(thread) ?? []

  async function refresh(thread: string): Promise<void> {
    views.set(thread, await lookAt(runtime, thread, viewOf(thread)))
  }

  async function load(thread: string): Promise<void> {
    const loaded = await options.load?.(thread)
    if (!loaded) return
    // What was kept for one thread says nothing about another.
    const own = Object.entries(loaded).filter(([, task]) => task.thread === thread)
    await restoreTasks(runtime, Object.fromEntries(own))
  }

  async function attempt(at: Moment, thread: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      tell(options.onError, error, { at, thread })
    }
  }

  return {
    name: 'background_tasks',
    tools: backgroundTools(runtime, options.agents).map((tool) => ({ ...tool, execute: refreshing(tool) })),
    async onRunStart({ thread }) {
      await attempt('run_start', thread, () => load(thread))
      await attempt('run_start', thread, () => refresh(thread))
    },
    async onRunEnd({ thread }) {
      const { persist } = options
      if (persist) await attempt('run_end', thread, async () => persist(thread, await snapshotTasks(runtime, thread)))
      views.delete(thread)
    },
    async refresh({ thread }) {
      await attempt('step', thread, () => refresh(thread))
      return viewOf(thread)
    },
    view: viewOf,
  }

  function refreshing(tool: BackgroundTool): BackgroundTool['execute'] {
    return async (input: unknown, place: ToolPlace) => {
      const answer = await tool.execute(input, place)
      if (views.has(place.thread)) await attempt('tool', place.thread, () => refresh(place.thread))
      return answer
    }
  }
}

function tell(
  onError: BackgroundTasksOptions['onError'],
  error: unknown,
  about: { readonly at: Moment; readonly thread: string },
): void {
  try {
    onError?.(error, about)
  } catch {
    // There is nobody left to tell, and the run must not pay for it.
  }
}
