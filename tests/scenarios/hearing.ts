import type { EndedCall, OnEnded, Task } from '../../src/index.ts'

type Told = Pick<Task, 'id' | 'status' | 'result' | 'error'> & Omit<EndedCall, 'signal'>

/** An `onEnded` that keeps what it was told, and then does what the test wants. */
export function hearing(act: OnEnded = () => undefined): { readonly told: Told[]; readonly onEnded: OnEnded } {
  const told: Told[] = []
  const onEnded: OnEnded = (task, call) => {
    const { id, status, result, error } = task
    told.push({
      id,
      status,
      ...(result !== undefined && { result }),
      ...(error && { error }),
      attempt: call.attempt,
      key: call.key,
    })
    return act(task, call)
  }
  return { told, onEnded }
}
