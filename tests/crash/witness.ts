import { isTerminal, type Runtime, type Task } from '../../src/index.ts'
import { digestOf, type Journal } from './journal.ts'

/** Who asks a runtime, and writes down what it answers. */
export interface Witness {
  readonly runtime: Runtime
  readonly journal: Journal
}

/** Watches a thread from a number on, and writes down all it sees. */
export async function writeSeen({ runtime, journal }: Witness, thread: string, after: number): Promise<void> {
  let last = after
  for await (const event of runtime.subscribe({ thread, after })) {
    if (event.seq !== last + 1) journal({ kind: 'broken', what: `${thread}: ${event.seq} came after ${last}` })
    last = event.seq
    journal({ kind: 'saw', thread, seq: event.seq, digest: digestOf(event) })
  }
}

/** Waits until nothing is left to do. */
export async function drain(witness: Witness): Promise<void> {
  for (;;) {
    const live = await liveTasks(witness.runtime)
    if (live.length === 0) return
    await Promise.all(live.map((task) => writeEnd(witness, task.id)))
  }
}

/** Waits for the end of a task. */
export async function writeEnd({ runtime, journal }: Witness, id: string): Promise<void> {
  const task = await runtime.wait(id)
  if (!task || !isTerminal(task.status)) throw new Error(`${id} was waited for and is ${task?.status ?? 'gone'}`)
  journal({ kind: 'ended', task: id, status: task.status, digest: digestOf(task) })
}

export async function liveTasks(runtime: Runtime): Promise<readonly Task[]> {
  const { tasks } = await runtime.list({ status: ['pending', 'running'], limit: 1000 })
  return tasks
}
