import { useClient, useQuestions } from 'holdfast/react'
import { useEffect, useMemo, useState } from 'react'

type Parents = ReadonlyMap<string, string | undefined>

/** How many questions wait in a task and in those that work for it. A question names only who asks; whom that works for is read. */
export function useAsking(): ReadonlyMap<string, number> {
  const client = useClient()
  const { questions } = useQuestions()
  const [parents, setParents] = useState<Parents>(new Map())
  const counts = useMemo(() => {
    const all = questions.flatMap(({ task }) => lineOf(task, parents))
    return new Map([...Map.groupBy(all, (id) => id)].map(([id, found]) => [id, found.length]))
  }, [questions, parents])
  const unknown = [...counts.keys()].filter((id) => !parents.has(id)).join(' ')
  useEffect(() => {
    if (unknown === '') return
    const leaving = new AbortController()
    const { signal } = leaving
    // Of one that cannot be read only the task itself is known to ask.
    void Promise.allSettled(unknown.split(' ').map((id) => client.get(id, { signal }))).then((answers) => {
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      if (signal.aborted || found.length === 0) return
      setParents(
        (before) => new Map([...before, ...found.map(({ id, parent }) => [id, parent?.task ?? parent?.run] as const)]),
      )
    })
    return () => leaving.abort()
  }, [client, unknown])
  return counts
}

function lineOf(task: string, parents: Parents): string[] {
  const line: string[] = []
  for (let id: string | undefined = task; id !== undefined; id = parents.get(id)) line.push(id)
  return line
}
