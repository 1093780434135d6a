import { useConnection } from 'holdfast/react'
import { type ReactElement, useEffect, useState } from 'react'
import { Chat } from './chat.tsx'
import { Login, logOut, whoIsIt } from './login.tsx'
import { NewChat } from './new-chat.tsx'
import { Threads } from './threads.tsx'
import { useHash } from './use-hash.ts'

export function App(): ReactElement | null {
  const [user, setUser] = useState<string | null>()
  useEffect(() => void whoIsIt().then(setUser), [])
  if (user === undefined) return null
  return user === null ? <Login onLogin={setUser} /> : <Portal user={user} />
}

function Portal({ user }: { readonly user: string }): ReactElement {
  const thread = useHash()
  return (
    <div className="portal">
      <nav>
        <Threads selected={thread} />
        <footer>
          <Connection />
          <span>{user}</span>
          <button type="button" className="quiet" onClick={() => void logOut()}>
            Log out
          </button>
        </footer>
      </nav>
      {thread === '' ? <NewChat /> : <Chat key={thread} thread={thread} />}
    </div>
  )
}

function Connection(): ReactElement {
  const { state } = useConnection()
  return (
    <span className={`pill ${state}`} role="status">
      {state}
    </span>
  )
}
