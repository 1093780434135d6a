import type { OnBusy } from 'holdfast/client'
import type { UseThreadResult } from 'holdfast/react'
import { useState } from 'react'
import type { Way } from './composer.tsx'
import { type Letter, unreadOf } from './unread-letters.ts'

const onBusy: Readonly<Record<Way, OnBusy>> = { send: 'queue', queue: 'queue', steer: 'steer', interrupt: 'interrupt' }

/** Sends what is written, and remembers what a run was told until it has read it. */
export function useWriting(view: UseThreadResult, agent: string) {
  const [letters, setLetters] = useState<readonly Letter[]>([])
  const send = async (text: string, way: Way): Promise<void> => {
    const { steered, id: task } = await view.send(text, { agent, onBusy: onBusy[way] })
    if (steered !== undefined) setLetters((before) => [...before, { id: steered, task, text }])
  }
  return { send, steered: unreadOf(letters, view.messages, view.tasks).map(({ text }) => text) }
}
