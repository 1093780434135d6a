import { isTerminal } from '../../core/status.ts'
import { isRun, type Task } from '../../core/task.ts'
import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import { createThreadView, reduceView, type ThreadView, trimView, type ViewChange } from '../thread-view.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'

export interface ThreadValue extends Loadable, ThreadView {
  /** Running while a run is live, be it that it waits. */
  readonly status: 'loading' | 'idle' | 'running' | 'error'
}

// More than anybody scrolls back through on a page that was open all day. The oldest leave.
const messagesMax = 1000
const endedTasksMax = 1000

export function threadBefore(initial: ThreadSnapshot | undefined): ThreadValue {
  return shownAs(viewOf(initial), initial === undefined)
}

/** A thread as a person sees it, kept as its log grows. */
export class LiveThread {
  readonly live: LiveModel<ThreadValue>
  readonly #parts: LiveParts
  readonly #thread: string
  #view: ThreadView
  /** The head of the snapshot that the view goes back to, if it was not read here. */
  #given: number | undefined
  #following: Following<ThreadValue> | undefined

  constructor(parts: LiveParts, thread: string, initial: ThreadSnapshot | undefined, onStopped: () => void) {
    this.#parts = parts
    this.#thread = thread
    this.#view = viewOf(initial)
    this.#given = initial?.head
    this.live = new LiveModel({
      ...parts,
      initial: threadBefore(initial),
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  /** Takes a copy of a task, such as an answer to a request, which may be here before its events. */
  take(task: Task): void {
    const following = this.#following
    if (following && !following.value.isLoading) this.#change(following, { type: 'task', task })
  }

  async #follow(following: Following<ThreadValue>): Promise<void> {
    this.#following = following
    const { signal } = following
    const given = this.#given
    this.#given = undefined
    const place = given === undefined ? {} : { after: given, picture: given }
    for await (const item of this.#parts.client.thread(this.#thread).attach({ ...place, signal })) {
      if (signal.aborted) return
      this.#change(following, item)
    }
  }

  #change(following: Following<ThreadValue>, change: ViewChange): void {
    const view = trimView(reduceView(this.#view, change), messagesMax, endedTasksMax)
    if (view === this.#view) return
    this.#view = view
    // The snapshot that follows a notice brings what is to be shown.
    if (change.type !== 'notice') following.set(shownAs(view, false))
  }
}

function viewOf(initial: ThreadSnapshot | undefined): ThreadView {
  return initial ? reduceView(createThreadView(), { type: 'snapshot', ...initial }) : createThreadView()
}

function shownAs(view: ThreadView, isLoading: boolean): ThreadValue {
  const isRunning = [...view.tasks.values()].some((task) => isRun(task) && !isTerminal(task.status))
  const status = isRunning ? 'running' : 'idle'
  return { ...view, status: isLoading ? 'loading' : status, isLoading }
}
