import { type FormEvent, type ReactElement, useState } from 'react'

interface Answer {
  readonly user: string | null
}

export async function whoIsIt(): Promise<string | null> {
  const answer = (await (await fetch('/me')).json()) as Answer
  return answer.user
}

/** The page is loaded anew, so that nothing of one user is left for the next. */
export async function logOut(): Promise<void> {
  await fetch('/logout', { method: 'POST' })
  location.assign('/')
}

export function Login({ onLogin }: { readonly onLogin: (user: string) => void }): ReactElement {
  const [isWrong, setWrong] = useState(false)
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const body = JSON.stringify(Object.fromEntries(new FormData(event.currentTarget)))
    const response = await fetch('/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { user } = (await response.json()) as Answer
    setWrong(user === null)
    if (user !== null) onLogin(user)
  }
  return (
    <form className="login" onSubmit={(event) => void submit(event)}>
      <h1>Chat</h1>
      <label>
        User <input name="user" required autoComplete="username" placeholder="alice or bob" />
      </label>
      <label>
        Password <input name="password" type="password" required autoComplete="current-password" />
      </label>
      <button type="submit">Log in</button>
      {isWrong && <p role="alert">That is not right. Try alice / wonderland, or bob / builder.</p>}
    </form>
  )
}
