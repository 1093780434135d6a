import { AsyncLocalStorage } from 'node:async_hooks'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { ParentContext } from '../core/lineage.ts'

/** A step whose function is running. */
export interface StepScope {
  readonly path: string
  /** How many waits and open steps there are directly inside it; with any, it does not run itself. */
  insideCount: number
}

/** Where code finds itself: in which task, step and tool call. */
export interface Scope {
  readonly task?: TaskId
  /** The thread of the task. */
  readonly thread?: ThreadKey
  readonly step?: StepScope
  readonly lineage: ParentContext
  /** Not a task's code, but that of `onEnded`. */
  readonly isHook?: true
}

/**
 * What a function inherits without being handed it. It follows promises and callbacks, so that two branches of
 * one agent each know their own step.
 */
export class Ambient {
  readonly #scopes = new AsyncLocalStorage<Scope>()

  get scope(): Scope | undefined {
    return this.#scopes.getStore()
  }

  run<Value>(scope: Scope, fn: () => Value): Value {
    return this.#scopes.run(scope, fn)
  }
}
