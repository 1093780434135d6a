import { isHoldfastError } from 'holdfast/client'
import { useConnection } from 'holdfast/react'
import { useEffect, useState } from 'react'
import { Refusal } from './question-card.tsx'

/** Lets something happen, and keeps why it did not until the next time. Of a server that was away nothing is left when it is back. */
export function useAttempts() {
  const { state } = useConnection()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    if (state === 'live') setError((before: unknown) => (isUnreached(before) ? undefined : before))
  }, [state])
  const attempt = async (act: () => Promise<unknown>): Promise<boolean> => {
    setError(undefined)
    try {
      await act()
      return true
    } catch (refusal) {
      setError(refusal)
      return false
    }
  }
  return { error, attempt }
}

/** What was refused is told in the server's words; where no server was heard, what becomes of what somebody wrote. */
export function Failure({ error, hasText }: { readonly error: unknown; readonly hasText: boolean }) {
  if (!isUnreached(error)) return <Refusal error={error} />
  return (
    <p role="alert" className="text-sm text-bad">
      The server could not be reached. {hasText ? 'Your message is kept here, and can be sent again.' : 'Try again.'}
    </p>
  )
}

function isUnreached(error: unknown): boolean {
  return isHoldfastError(error, 'unreachable')
}
