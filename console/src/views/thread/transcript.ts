import type { Message, Part, Question, Task } from 'holdfast/client'

/**
 * A thread as a column to read. Messages stand in the order of their numbers. What a run did stands together with what it
 * said, after what it began with: its children, its questions, what it was told on its way, its end. Holdfast writes a run's
 * own words as one message when it ends; until then they are its live parts, in the same place.
 */
export type Entry = SaidEntry | RunEntry | AsideEntry

/** What somebody said, or what woke the thread. */
export interface SaidEntry {
  readonly kind: 'said'
  readonly key: string
  readonly message: Message
}

/** What a run put out, as far as it has come. */
export interface RunEntry {
  readonly kind: 'run'
  readonly key: string
  /** Absent if it ended long ago, and only its words are left. */
  readonly task?: Task
  readonly message?: Message
  readonly parts: readonly Part[]
  readonly isLive: boolean
  /** The number after which it began, if the log is kept from there on. */
  readonly since?: number
  /** Spawned by no tool call of it; the others stand at their call. */
  readonly children: readonly Task[]
  readonly childrenOfCall: ReadonlyMap<string, readonly Task[]>
  /** What it was told while it worked, and has read. */
  readonly steering: readonly Message[]
  readonly questions: readonly Asked[]
}

/** A task that belongs to no run which is shown. */
export interface AsideEntry {
  readonly kind: 'aside'
  readonly key: string
  readonly task: Task
  readonly questions: readonly Asked[]
}

/** A question, and what became of it. */
export interface Asked {
  readonly question: Question
  /** If it is known. */
  readonly asker?: Task
  /** Open unless given. */
  readonly end?: { readonly answer: unknown; readonly by: string } | { readonly closed: 'timeout' | 'ended' }
}

export interface ThreadParts {
  /** By their numbers. */
  readonly messages: readonly Message[]
  /** In the order of acceptance. */
  readonly tasks: readonly Task[]
  readonly live: ReadonlyMap<string, readonly Part[]>
  readonly questions: readonly Asked[]
  /** The lowest number that is kept of the log. */
  readonly first: number
}

export function transcriptOf({ messages, tasks, live, questions, first }: ThreadParts): Entry[] {
  const toldTo = Map.groupBy(
    messages.filter(({ role }) => role !== 'assistant'),
    ({ task }) => task,
  )
  const family = familyOf(tasks, questions, toldTo, first)
  const words = new Map(messages.flatMap((each) => (each.role === 'assistant' ? [[each.task, each] as const] : [])))
  // A run that is at work, or has ended without a word.
  const silent = new Map(tasks.filter((task) => isShownRun(task) && !words.has(task.id)).map((run) => [run.id, run]))
  const shown = new Set<string>()
  const entries: Entry[] = []
  for (const message of messages) {
    const { task: id, role } = message
    if (id !== undefined && shown.has(id)) continue
    if (role !== 'assistant') entries.push(said(message))
    if (id === undefined) {
      if (role === 'assistant') entries.push(family.run(id, message))
    } else if (words.has(id) || silent.has(id)) {
      entries.push(family.run(id, words.get(id), live.get(id)))
      silent.delete(id)
      shown.add(id)
    }
  }
  // Of the others the prompt is older than what is shown; only what is still to come of them matters.
  for (const run of silent.values()) {
    if (run.status === 'running') entries.push(family.run(run.id, undefined, live.get(run.id)))
  }
  return withAsides(entries, family.asides(entries))
}

function said(message: Message): SaidEntry {
  return { kind: 'said', key: `said-${message.id}`, message }
}

function isShownRun({ type, status }: Task): boolean {
  return type === 'run' && status !== 'pending' && status !== 'cancelled'
}

/** Who belongs to whom. */
function familyOf(
  tasks: readonly Task[],
  questions: readonly Asked[],
  toldTo: ReadonlyMap<string | undefined, readonly Message[]>,
  first: number,
) {
  const byId = new Map<string, Task>(tasks.map((task) => [task.id, task]))
  const children = Map.groupBy(
    tasks.filter(({ type }) => type !== 'run'),
    ({ parent }) => parent?.task ?? parent?.run,
  )
  const withAsker = (asked: Asked): Asked => {
    const asker = byId.get(asked.question.task)
    return asker ? { ...asked, asker } : asked
  }
  const all = questions.map(withAsker)
  const asked = Map.groupBy(all, ({ question }) => rootOf(byId, question.task))
  return {
    run(id: string | undefined, message?: Message, live: readonly Part[] = []): RunEntry {
      const task = id === undefined ? undefined : byId.get(id)
      const parts = message?.parts ?? live
      // The first that a run was told is what it began with; the rest is steering.
      const [began, ...steering] = id === undefined ? [] : (toldTo.get(id) ?? [])
      const isKept = began !== undefined && began.seq >= first - 1
      const calls = new Set(parts.flatMap((part) => (part.type === 'tool' ? part.id : [])))
      const own = id === undefined ? [] : (children.get(id as Task['id']) ?? [])
      const isOfCall = ({ parent }: Task) => parent?.call !== undefined && calls.has(parent.call)
      return {
        kind: 'run',
        key: `run-${id ?? message?.id}`,
        ...(task && { task }),
        ...(message && { message }),
        parts,
        isLive: task?.status === 'running' && !message,
        ...(isKept && { since: began.seq }),
        children: own.filter((child) => !isOfCall(child)),
        childrenOfCall: Map.groupBy(own.filter(isOfCall), ({ parent }) => parent?.call ?? ''),
        steering,
        questions: id === undefined ? [] : (asked.get(id) ?? []),
      }
    },
    asides(entries: readonly Entry[]): AsideEntry[] {
      const shown = new Set<string>(entries.flatMap((entry) => (entry.kind === 'run' ? (entry.task?.id ?? []) : [])))
      const isAside = ({ id, type }: Task) => type !== 'run' && !byId.has(parentOf(byId.get(id)) ?? '')
      const isOrphan = (task: Task) => {
        const parent = byId.get(parentOf(task) ?? '')
        return parent?.type === 'run' && !shown.has(parent.id) && task.type !== 'run' && isLive(task)
      }
      const found = new Set(tasks.filter((task) => isAside(task) || isOrphan(task)))
      const lost = questions.filter(({ question, end }) => !end && !shown.has(rootOf(byId, question.task)))
      for (const { question } of lost) {
        const line = lineOf(byId, question.task)
        const asker = line[0]
        if (asker && !line.some((task) => found.has(task))) found.add(asker)
      }
      const asideOf = (id: string) => lineOf(byId, id).findLast((task) => found.has(task))?.id
      const askedBy = Map.groupBy(all, ({ question }) => asideOf(question.task))
      return [...found].map((task) => ({
        kind: 'aside',
        key: `task-${task.id}`,
        task,
        questions: askedBy.get(task.id) ?? [],
      }))
    },
  }
}

function isLive({ status }: Task): boolean {
  return status === 'pending' || status === 'running'
}

function parentOf(task: Task | undefined): string | undefined {
  return task?.parent?.task ?? task?.parent?.run
}

/** A task and those that it works for, up to its run, as far as they are known. */
function lineOf(byId: ReadonlyMap<string, Task>, id: string): readonly Task[] {
  const line: Task[] = []
  for (let task = byId.get(id); task; task = task.type === 'run' ? undefined : byId.get(parentOf(task) ?? '')) {
    line.push(task)
  }
  return line
}

/** The run that a task works for; itself, or the uppermost that is known. */
function rootOf(byId: ReadonlyMap<string, Task>, id: string): string {
  return lineOf(byId, id).at(-1)?.id ?? id
}

/** Between what was said before and after they were accepted. */
function withAsides(entries: readonly Entry[], asides: readonly AsideEntry[]): Entry[] {
  const all = [...entries]
  for (const aside of asides) {
    const at = all.findIndex((entry) => startedAt(entry) > aside.task.createdAt)
    all.splice(at === -1 ? all.length : at, 0, aside)
  }
  return all
}

function startedAt(entry: Entry): number {
  if (entry.kind === 'said') return entry.message.at
  if (entry.kind === 'aside') return entry.task.createdAt
  return entry.task?.startedAt ?? entry.message?.at ?? Number.POSITIVE_INFINITY
}
