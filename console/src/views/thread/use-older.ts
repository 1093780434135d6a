import type { Client, Message } from 'holdfast/client'
import { useEffect, useRef, useState } from 'react'
import { joined, olderMessages } from './older-messages.ts'

// A snapshot holds so many messages; one that holds fewer has them all.
const snapshotCount = 100
const pageCount = 200

export interface Conversation {
  readonly messages: readonly Message[]
  readonly hasOlder: boolean
  readonly isLoadingOlder: boolean
  readonly olderError?: unknown
  readonly loadOlder: () => void
}

/** The conversation from as far back as somebody has scrolled, up to now. */
export function useOlder(client: Client, thread: string, recent: readonly Message[]): Conversation {
  const known = useRef<readonly Message[]>([])
  const [older, setOlder] = useState<readonly Message[]>([])
  const [isAll, setAll] = useState(false)
  const [isLoading, setLoading] = useState(false)
  const [error, setError] = useState<unknown>()
  const messages = joined(merge(older, known.current), recent, snapshotCount)
  // What was once shown stays, though the live part of it begins later after a reconnection.
  known.current = messages
  const isEmpty = recent.length === 0
  // One whose content was deleted begins anew.
  useEffect(() => {
    if (!isEmpty) return
    setOlder([])
    setAll(false)
  }, [isEmpty])
  const first = messages[0]?.seq
  const hasOlder = first !== undefined && !isAll && messages.length >= snapshotCount
  const load = async () => {
    if (!hasOlder || isLoading) return
    setLoading(true)
    setError(undefined)
    try {
      const read = (after: number) => client.messages(thread, { after, limit: pageCount })
      const found = await olderMessages(read, first)
      setOlder((before) => merge(found.messages, before))
      setAll(found.isAll)
    } catch (refusal) {
      setError(refusal)
    }
    setLoading(false)
  }
  return {
    messages,
    hasOlder,
    isLoadingOlder: isLoading,
    ...(error !== undefined && { olderError: error }),
    loadOlder: () => void load(),
  }
}

/** Two stretches of one conversation, where the second is the later one. */
function merge(earlier: readonly Message[], later: readonly Message[]): readonly Message[] {
  const first = later[0]
  if (!first) return earlier
  const before = earlier.filter(({ seq }) => seq < first.seq)
  return before.length === 0 ? later : [...before, ...later]
}
