import type { Client, Task, ThreadEvent } from 'holdfast/client'
import { isMarked, markTypes, outputTypes } from './run-order.ts'

// A run that has put out more is not read through for this.
export const outputsMax = 10_000

/** As far as the log was read for the places of a run. */
export interface Read {
  readonly after: number
  readonly outputs: readonly ThreadEvent[]
  readonly marks: readonly ThreadEvent[]
}

type Log = Pick<Client, 'events'>

/**
 * Up to the last of what is wanted and the last resume, which says what does not count any more, or as far as the log goes; what was
 * put out last, so that nothing before a mark is missing.
 */
export async function readOn(
  client: Log,
  { thread, id: task, attempt }: Task,
  { after, outputs, marks }: Read,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Read> {
  const found = { after, events: [...marks] }
  const put = { after, events: [...outputs] }
  const isBegun = (event: ThreadEvent) =>
    event.type === 'task.resumed' && event.task === task && event.data.attempt >= attempt
  const isAll = () =>
    wanted.every((id) => found.events.some((event) => isMarked(event, id))) &&
    (attempt <= 1 || found.events.some(isBegun))
  while (!isAll() && (await readPage(client, thread, { types: markTypes, limit: 100, signal }, found)));
  const isFar = () => put.after >= found.after || put.events.length > outputsMax
  while (!isFar() && (await readPage(client, thread, { task, types: outputTypes, limit: 1000, signal }, put)));
  return {
    after: found.after,
    outputs: put.events.filter(({ seq }) => seq <= found.after),
    marks: found.events,
  }
}

/** False at the end of the log. */
async function readPage(
  client: Log,
  thread: string,
  options: NonNullable<Parameters<Client['events']>[1]>,
  into: { after: number; readonly events: ThreadEvent[] },
): Promise<boolean> {
  const { events, next, head } = await client.events(thread, { ...options, after: into.after })
  into.events.push(...events)
  into.after = next
  return next < head
}
