import type { Question, Task } from 'holdfast/client'

/** What is known of a thread beside its name. */
export interface ThreadNote {
  readonly running: number
  readonly queued: number
  readonly questions: number
  /** What was asked last; where nothing is known to have been asked, the task that was accepted last. */
  readonly last?: Task
}

interface Known {
  readonly live: readonly Task[]
  /** Runs, newest first. */
  readonly recent: readonly Task[]
  /** Tasks that nobody spawned, newest first. */
  readonly roots: readonly Task[]
  readonly questions: readonly Question[]
}

export function threadNotes({ live, recent, roots, questions }: Known): ReadonlyMap<string, ThreadNote> {
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
  // A run that is live may be older than those that were read.
  const liveRuns = live.filter(({ type }) => type === 'run')
  for (const last of [...recent, ...liveRuns, ...roots, ...live]) {
    add(last.thread, (note) => (note.last ? note : { ...note, last }))
  }
  return notes
}
