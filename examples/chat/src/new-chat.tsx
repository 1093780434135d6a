import { useClient } from 'holdfast/react'
import { type ReactElement, useState } from 'react'
import { Composer } from './composer.tsx'
import { newThread } from './threads.tsx'

export function NewChat(): ReactElement {
  const client = useClient()
  const [error, setError] = useState<string>()
  async function ask(prompt: string): Promise<void> {
    const thread = newThread(prompt)
    await client.run(thread, { agent: 'helper', prompt })
    location.hash = encodeURIComponent(thread)
  }
  return (
    <main className="empty">
      <h1>What would you like to know?</h1>
      <p className="hint">Try “Book a table for two”: it asks before it does.</p>
      <Composer isBusy={false} onSend={(text) => void ask(text).catch((refusal: Error) => setError(refusal.message))} />
      {error !== undefined && <p role="alert">{error}</p>}
    </main>
  )
}
