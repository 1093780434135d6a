import type { BackgroundTool, ToolPlace } from './background-tool.ts'
import { backgroundTools, lookAt } from './background-tools.ts'
import type { PersistedTasks } from './persisted-task.ts'
import type { Runtime } from './runtime.ts'
import { restoreTasks, snapshotTasks } from './task-snapshot.ts'
import type { TaskView } from './task-view.ts'

/** When something went wrong that the run does not fail for. */
type Moment = 'run_start' | 'run_end' | 'tool' | 'step'

/** Which agents the tools may spawn, and where tasks are kept beside the store, if anywhere. */
export interface BackgroundTasksOptions {
  /** The agents that may be spawned with the tools; all that are registered unless given, but for those that say no. */
  readonly agents?: readonly string[]
  /**
   * Gives back what `persist` was given for a thread of a principal. Needed only if tasks are to move between stores. Two
   * principals may have threads of the same id.
   */
  readonly load?: (
    thread: string,
    principal: string,
  ) => PersistedTasks | undefined | Promise<PersistedTasks | undefined>
  /** Keeps the tasks of a thread outside the store, which is durable by itself. */
  readonly persist?: (thread: string, tasks: PersistedTasks, principal: string) => void | Promise<void>
  /** Told when tasks could not be loaded, persisted or looked at. The run goes on. */
  readonly onError?: (error: unknown, about: { readonly at: Moment; readonly thread: string }) => void
}

/** Where a run is: in a thread of the principal of its context, or without one, of the runtime. */
type RunPlace = Pick<ToolPlace, 'thread' | 'ctx'>

/** Background tasks as an agent gets them: tools, and a view of what goes on in its thread. */
export interface BackgroundTasks {
  readonly name: 'background_tasks'
  readonly tools: readonly BackgroundTool[]
  /** Restores what `load` gives, and fills the view of the thread. */
  onRunStart(run: RunPlace): Promise<void>
  /** Hands the thread's tasks to `persist`, and clears the view. */
  onRunEnd(run: RunPlace): Promise<void>
  /** Looks at the thread's tasks again, as before a step of the model. */
  refresh(run: RunPlace): Promise<TaskView>
  /**
   * What the agent is shown in a thread of the runtime's principal, as of the run's start, the last use of a tool or the last
   * refresh; empty outside a run.
   */
  view(thread: string): TaskView
}

/**
 * The background tasks of a runtime as one plugin. Making it reads and changes nothing; its hooks do, when they are run.
 *
 * No hook rejects: an agent that could not be shown its tasks is still asked, and what went wrong goes to `onError`.
 */
export function backgroundTasks(runtime: Runtime, options: BackgroundTasksOptions = {}): BackgroundTasks {
  const views = new Map<string, TaskView>()
  const attempt = attempting(options.onError)
  // A thread is a principal's own, and whoever calls with a context is that principal, whatever the plugin was made with.
  const runtimeOf = ({ ctx }: RunPlace): Runtime => (ctx ? runtime.as(ctx.principal) : runtime)
  const keyOf = (place: RunPlace): string => `${runtimeOf(place).principal}/${place.thread}`
  const viewOf = (place: RunPlace): TaskView => views.get(keyOf(place)) ?? []

  async function refresh(place: RunPlace): Promise<void> {
    views.set(keyOf(place), await lookAt(runtimeOf(place), place.thread))
  }

  return {
    name: 'background_tasks',
    tools: backgroundTools(runtime, options.agents).map((tool) => ({ ...tool, execute: refreshing(tool) })),
    async onRunStart(run) {
      await attempt('run_start', run.thread, () => restore(runtimeOf(run), run.thread, options.load))
      await attempt('run_start', run.thread, () => refresh(run))
    },
    async onRunEnd(run) {
      if (options.persist) await attempt('run_end', run.thread, () => keep(runtimeOf(run), run.thread, options.persist))
      views.delete(keyOf(run))
    },
    async refresh(run) {
      await attempt('step', run.thread, () => refresh(run))
      return viewOf(run)
    },
    view: (thread) => viewOf({ thread }),
  }

  function refreshing({ name, execute }: BackgroundTool): BackgroundTool['execute'] {
    return async (input: unknown, place: ToolPlace) => {
      const own = backgroundTools(runtimeOf(place), options.agents).find((tool) => tool.name === name)
      const answer = await (own?.execute ?? execute)(input, place)
      if (views.has(keyOf(place))) await attempt('tool', place.thread, () => refresh(place))
      return answer
    }
  }
}

async function keep(runtime: Runtime, thread: string, persist: BackgroundTasksOptions['persist']): Promise<void> {
  await persist?.(thread, await snapshotTasks(runtime, thread), runtime.principal)
}

async function restore(runtime: Runtime, thread: string, load: BackgroundTasksOptions['load']): Promise<void> {
  const loaded = await load?.(thread, runtime.principal)
  if (!loaded) return
  // What was kept for one thread says nothing about another.
  const own = Object.entries(loaded).filter(([, task]) => task.thread === thread)
  await restoreTasks(runtime, Object.fromEntries(own))
}

function attempting(onError: BackgroundTasksOptions['onError']) {
  return async (at: Moment, thread: string, act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      try {
        onError?.(error, { at, thread })
      } catch {
        // There is nobody left to tell, and the run must not pay for it.
      }
    }
  }
}
