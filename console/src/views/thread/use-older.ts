import type { Client, Message } from 'holdfast/client'
import { useRef, useState } from 'react'
import { joined, mayHaveOlder, olderMessages } from './older-messages.ts'

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
  /** The message before which there is none, once that is known. */
  const [beginning, setBeginning] = useState<number>()
  const [isLoading, setLoading] = useState(false)
  const [error, setError] = useState<unknown>()
  const messages = joined(known.current, recent)
  // What was once shown stays, though the live part of it begins later after a reconnection.
  known.current = messages
  const first = messages[0]?.seq
  const hasOlder = first !== undefined && first !== beginning && mayHaveOlder(messages)
  const load = async () => {
    if (!hasOlder || isLoading) return
    setLoading(true)
    setError(undefined)
    try {
      const read = (after: number) => client.messages(thread, { after, limit: pageCount })
      const older = await olderMessages(read, first)
      // Unless what they stand before is no longer the first, because the thread was deleted meanwhile.
      if (known.current[0]?.seq === first) known.current = [...older.messages, ...known.current]
      if (older.isAll) setBeginning(older.messages[0]?.seq ?? first)
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
