import { useClient } from 'holdfast/react'
import { type ReactElement, useState } from 'react'
import { Composer } from './composer.tsx'
import { newThread } from './threads.tsx'

export function NewChat(): ReactElement {
  const client = useClient()
  const [error, setError] = useState<string>()
  async function ask(prompt: string): Promise<boolean> {
    const thread = newThread(prompt)
    try {
      await client.run(thread, { agent: 'helper', prompt })
    } catch (refusal) {
      setError((refusal as Error).message)
      return false
    }
    location.hash = encodeURIComponent(thread)
    return true
  }
  return (
    <main className="empty">
      <h1>What would you like to know?</h1>
      <p className="hint">Try “Book a table for two”: it asks before it does.</p>
      <Composer isBusy={false} onSend={ask} />
      {error !== undefined && <p role="alert">{error}</p>}
    </main>
  )
}
