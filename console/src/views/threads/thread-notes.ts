import type { Question, Task } from 'holdfast/client'

/** What is known of a thread beside its name. */
export interface ThreadNote {
  readonly running: number
  readonly queued: number
  readonly questions: number
  /** What was asked last. */
  readonly last?: Task
}

interface Known {
  readonly live: readonly Task[]
  /** Runs, newest first. */
  readonly recent: readonly Task[]
  readonly questions: readonly Question[]
}

export function threadNotes({ live, recent, questions }: Known): ReadonlyMap<string, ThreadNote> {
  const notes = new Map<string, ThreadNote>()
  const none: ThreadNote = { running: 0, queued: 0, questions: 0 }
  const add = (thread: string, change: (note: ThreadNote) => ThreadNote) => {
    notes.set(thread, change(notes.get(thread) ?? none))
  }
  for (const { thread, status } of live) {
    add(thread, (note) =>
      status === 'running' ? { ...note, running: note.running + 1 } : { ...note, queued: note.queued + 1 },
    )
  }
  for (const { thread } of questions) add(thread, (note) => ({ ...note, questions: note.questions + 1 }))
  for (const last of recent) add(last.thread, (note) => (note.last ? note : { ...note, last }))
  return notes
}
