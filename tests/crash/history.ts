import type { Event, EventData, Message, Runtime, Task } from '../../src/index.ts'
import type { Entry } from './journal.ts'
import type { Effect } from './ledger.ts'

/** A thread as the store tells of it at the end. */
export interface ThreadHistory {
  readonly thread: string
  readonly head: number
  readonly log: readonly Event[]
  readonly messages: readonly Message[]
  /** Tasks whose results nobody took. */
  readonly untaken: readonly string[]
}

/** All that the store tells at the end. */
export interface History {
  readonly threads: ReadonlyMap<string, ThreadHistory>
  readonly tasks: ReadonlyMap<string, Task>
}

/** All that was written down outside the store. */
export interface Evidence {
  readonly entries: readonly Entry[]
  readonly effects: readonly Effect[]
  /** When processes died. */
  readonly diedAt: readonly number[]
}

/** What the checks go by. */
export interface Case extends Evidence, History {}

const pageMax = 1000

/** Reads everything through the public API. Nothing may be live any more. */
export async function readHistory(runtime: Runtime): Promise<History> {
  const threads = new Map<string, ThreadHistory>()
  for (let cursor: string | undefined; ; ) {
    const page = await runtime.threads({ limit: pageMax, ...(cursor !== undefined && { cursor }) })
    for (const { thread, head } of page.threads) threads.set(thread, await readThread(runtime, thread, head))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  return { threads, tasks: await readTasks(runtime) }
}

async function readThread(runtime: Runtime, thread: string, head: number): Promise<ThreadHistory> {
  const log: Event[] = []
  if (head > 0) {
    for await (const event of runtime.subscribe({ thread })) {
      log.push(event)
      if (event.seq >= head) break
    }
  }
  const { results } = await runtime.results(thread)
  const untaken = results.map((result) => result.task)
  return { thread, head, log, messages: await readMessages(runtime, thread), untaken }
}

async function readMessages(runtime: Runtime, thread: string): Promise<Message[]> {
  const messages: Message[] = []
  for (;;) {
    const page = await runtime.messages(thread, { after: messages.at(-1)?.seq ?? 0, limit: pageMax })
    messages.push(...page)
    if (page.length < pageMax) return messages
  }
}

async function readTasks(runtime: Runtime): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>()
  for (let cursor: string | undefined; ; ) {
    const page = await runtime.list({ limit: pageMax, ...(cursor !== undefined && { cursor }) })
    for (const task of page.tasks) tasks.set(task.id, task)
    cursor = page.cursor
    if (cursor === undefined) return tasks
  }
}

/** The events of each task of a thread, in order. */
export function byTask({ log }: ThreadHistory): Map<string, Event[]> {
  return Map.groupBy(
    log.filter((event) => event.task !== undefined),
    (event) => event.task as string,
  )
}

const endingTypes: readonly string[] = ['task.completed', 'task.failed', 'task.cancelled']

export function isEnding(event: Event): boolean {
  return endingTypes.includes(event.type)
}

export function ofType<Type extends Event['type']>(events: readonly Event[], type: Type) {
  return events.filter((event) => event.type === type) as Extract<Event, { type: Type }>[]
}

export function entriesOf<Kind extends Entry['kind']>({ entries }: Evidence, kind: Kind) {
  return entries.filter((entry) => entry.kind === kind) as Extract<Entry, { kind: Kind }>[]
}

const emittedTypes = ['text.delta', 'thinking', 'tool.call', 'tool.result', 'answer', 'progress', 'custom', 'usage']

/** A task's events as a client is to understand them: without what its resumes abandoned. */
export function standingEvents(events: readonly Event[]): Event[] {
  let standing: Event[] = []
  for (const event of events) {
    if (event.type === 'task.resumed') standing = standing.filter((earlier) => !isAbandoned(earlier, event.data))
    standing.push(event)
  }
  return standing
}

function isAbandoned(event: Event, { keep, dropped = [] }: EventData['task.resumed']): boolean {
  if (!emittedTypes.includes(event.type)) return false
  return event.seq > keep || dropped.some(([first, last]) => first <= event.seq && event.seq <= last)
}
