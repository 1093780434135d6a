import { isHoldfastError } from 'holdfast/client'
import { useClient } from 'holdfast/react'
import { type FormEvent, useState } from 'react'
import { Button } from '../design/button.tsx'
import { messageOf } from '../design/error-state.tsx'
import { Mark } from '../design/mark.tsx'

/** Takes a token, which is exchanged for a cookie and kept nowhere. */
export function LoginForm({ refusal }: { readonly refusal?: string }) {
  const client = useClient()
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState(refusal)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await client.login({ token: token.trim() })
      // Whatever was refused before is asked again from the beginning.
      location.reload()
    } catch (error) {
      setProblem(isHoldfastError(error, 'unauthenticated') ? 'That token is not known here.' : messageOf(error))
      setBusy(false)
    }
  }
  return (
    <main className="grid min-h-full place-items-center p-4">
      <form onSubmit={(event) => void submit(event)} className="flex w-full max-w-sm flex-col gap-4">
        <Mark className="size-10" />
        <h1 className="text-lg font-semibold">Log in to Holdfast</h1>
        <p className="text-ink-soft">
          Open the login link that the server printed when it started, or give a token of this server.
        </p>
        <label className="flex flex-col gap-1.5 font-medium">
          Token
          <input
            type="password"
            autoComplete="current-password"
            // biome-ignore lint/a11y/noAutofocus: it is the one thing to do on this page.
            autoFocus
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
            className="h-9 rounded-md border border-line-strong bg-panel px-3 font-mono"
          />
        </label>
        <p role="alert" className="text-bad empty:hidden">
          {problem}
        </p>
        <Button type="submit" look="solid" disabled={isBusy || token.trim() === ''}>
          Log in
        </Button>
      </form>
    </main>
  )
}
