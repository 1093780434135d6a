import type { OnBusy, TaskId } from 'holdfast/client'
import type { OneThread } from 'holdfast/react'
import { useState } from 'react'
import type { Way } from './composer.tsx'

interface Letter {
  readonly id: string
  readonly task: TaskId
  readonly text: string
}

const onBusy: Readonly<Record<Way, OnBusy>> = { send: 'queue', queue: 'queue', steer: 'steer', interrupt: 'interrupt' }

/** Sends what is written, and remembers what a run was told until it has read it. */
export function useWriting(view: OneThread, agent: string) {
  const [letters, setLetters] = useState<readonly Letter[]>([])
  const send = async (text: string, way: Way): Promise<void> => {
    const { steered, id: task } = await view.send(text, { agent, onBusy: onBusy[way] })
    if (steered !== undefined) setLetters((before) => [...before, { id: steered, task, text }])
  }
  // One that was read is a message now; one that was not, when its run ended, became a run.
  const read = new Set(view.messages.map(({ id }) => id))
  const isUnread = ({ id, task }: Letter) => !read.has(id) && view.tasks.get(task)?.completedAt === undefined
  return { send, steered: letters.filter(isUnread).map(({ text }) => text) }
}
