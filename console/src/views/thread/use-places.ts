import type { Client, Task, ThreadEvent } from 'holdfast/client'
import { useClient } from 'holdfast/react'
import { useEffect, useRef, useState } from 'react'
import { isMarked, markTypes, outputTypes, type Places, placesIn } from './run-order.ts'
import type { RunEntry } from './transcript.ts'

const nowhere: Places = new Map()
// A run that has put out more is not read through for this.
const outputsMax = 10_000

interface Read {
  readonly after: number
  readonly outputs: readonly ThreadEvent[]
  readonly marks: readonly ThreadEvent[]
}

/**
 * Where in what a run put out its children were spawned and its questions asked. Neither a message nor what is live tells, so
 * it is read from the log, of the runs that have any, and on from there when there is another.
 */
export function usePlaces({ task, since, children, questions }: RunEntry): Places {
  const client = useClient()
  const [places, setPlaces] = useState(nowhere)
  const read = useRef<Read>(undefined)
  const wanted = [...children.map(({ id }) => id), ...questions.map(({ question }) => question.id)].join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the task is another object with each event of it.
  useEffect(() => {
    if (!task || since === undefined || wanted === '') return
    const leaving = new AbortController()
    const { signal } = leaving
    const before = read.current ?? { after: since, outputs: [], marks: [] }
    if (before.outputs.length > outputsMax) return
    readOn(client, task, before, wanted.split(' '), signal).then(
      (next) => {
        if (signal.aborted) return
        read.current = next
        if (next.outputs.length <= outputsMax) setPlaces(placesIn(next.outputs, next.marks))
      },
      // Without it they are shown at the end.
      () => {},
    )
    return () => leaving.abort()
  }, [client, task?.id, since, wanted])
  return places
}

/** Up to the last of what is wanted, or as far as the log goes; what was put out last, so that nothing before a mark is missing. */
async function readOn(
  client: Client,
  { thread, id: task }: Task,
  { after, outputs, marks }: Read,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Read> {
  const found = { after, events: [...marks] }
  const put = { after, events: [...outputs] }
  const isAll = () => wanted.every((id) => found.events.some((event) => isMarked(event, id)))
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
  client: Client,
  thread: string,
  options: NonNullable<Parameters<Client['events']>[1]>,
  into: { after: number; readonly events: ThreadEvent[] },
): Promise<boolean> {
  const { events, next, head } = await client.events(thread, { ...options, after: into.after })
  into.events.push(...events)
  into.after = next
  return next < head
}
