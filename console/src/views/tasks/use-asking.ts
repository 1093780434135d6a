import { useClient, useQuestions } from 'holdfast/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { countsOf, type KnownParents, Parents } from './parents.ts'

const nobody: KnownParents = new Map()

/** How many questions wait in a task and in those that work for it. A question names only who asks; whom that works for is read. */
export function useAsking(): ReadonlyMap<string, number> {
  const client = useClient()
  const { questions } = useQuestions()
  const [known, setKnown] = useState(nobody)
  const parents = useRef<Parents>(undefined)
  const asking = useMemo(() => questions.map(({ task }) => task), [questions])
  useEffect(() => {
    const reading = new Parents((id, signal) => client.get(id, { signal }), setKnown)
    parents.current = reading
    return () => reading.stop()
  }, [client])
  // biome-ignore lint/correctness/useExhaustiveDependencies: those of another client are read anew.
  useEffect(() => parents.current?.want(asking), [client, asking])
  return useMemo(() => countsOf(asking, known), [asking, known])
}
