// A page around the component of docs/use-chat.md, from which one can go away and come back.
import type { ThreadSnapshot } from 'holdfast/client'
import { type ReactElement, StrictMode, Suspense, use, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat, client } from './chat.tsx'

function Loaded({ thread }: { readonly thread: Promise<ThreadSnapshot> }): ReactElement {
  return <Chat thread={use(thread)} />
}

function Page(): ReactElement {
  const [thread, setThread] = useState<Promise<ThreadSnapshot> | undefined>(() => client.snapshot('t'))
  return (
    <Suspense>
      {thread && <Loaded thread={thread} />}
      <button type="button" onClick={() => setThread(thread ? undefined : client.snapshot('t'))}>
        {thread ? 'Leave' : 'Come back'}
      </button>
    </Suspense>
  )
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  )
