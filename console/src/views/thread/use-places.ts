import { useClient } from 'holdfast/react'
import { useEffect, useRef, useState } from 'react'
import { outputsMax, type Read, readOn } from './read-places.ts'
import { type Places, placesIn } from './run-order.ts'
import type { RunEntry } from './transcript.ts'

const nowhere: Places = new Map()

/**
 * Where in what a run put out its children were spawned, its questions asked and its steering read. Neither a message nor what is
 * live tells, so it is read from the log, of the runs that have any, and on from there when there is another, or a resume has
 * dropped some of what it put out.
 */
export function usePlaces({ task, since, children, questions, steering }: RunEntry): Places {
  const client = useClient()
  const [places, setPlaces] = useState(nowhere)
  const read = useRef<Read>(undefined)
  const asked = questions.map(({ question }) => question)
  const wanted = [...children, ...asked, ...steering].map(({ id }) => id).join(' ')
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
  }, [client, task?.id, task?.attempt, since, wanted])
  return places
}
