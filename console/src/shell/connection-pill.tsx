import { useClient, useConnection } from 'holdfast/react'
import { classes } from '../design/classes.ts'
import { useNow } from '../design/now.ts'
import { clockText } from '../design/span-text.ts'
import { heedRetry } from '../live-lines.ts'

type Connection = ReturnType<typeof useConnection>

const looks: Readonly<Record<Connection['state'], { readonly ink: string; readonly dot: string }>> = {
  live: { ink: 'text-ok', dot: 'bg-ok' },
  reconnecting: { ink: 'text-warn hover:underline', dot: 'bg-warn animate-wait' },
  offline: { ink: 'text-bad', dot: 'bg-bad' },
}

/**
 * Whether what is on the screen is how it is now, and if not, as of when; and, while the next try is waited for, the way to try at once.
 * Who is offline waits for none: the network comes back by itself, and a login that is over does not.
 */
export function ConnectionPill({ isShort = false }: { readonly isShort?: boolean }) {
  const client = useClient()
  const connection = useConnection()
  const { state } = connection
  const canTry = state === 'reconnecting'
  const now = useNow(canTry)
  const { ink, dot } = looks[state]
  const tryNow = () => {
    client.connection.retry()
    heedRetry()
  }
  return (
    <>
      <button
        type="button"
        disabled={!canTry}
        title={canTry ? 'Try now' : undefined}
        onClick={tryNow}
        className={classes(
          'inline-flex h-6 items-center gap-2 rounded-full text-xs font-medium whitespace-nowrap',
          ink,
        )}
      >
        <span className={classes('size-2 rounded-full', dot)} />
        <span data-connection={state}>{textOf(connection, now, isShort)}</span>
        {canTry && <span className="sr-only">. Try now</span>}
      </button>
      {/* Only what it has become is said aloud, not each second of a countdown. */}
      <span role="status" className="sr-only">
        {state === 'live' ? 'Live' : state === 'offline' ? 'Offline' : 'Reconnecting'}
      </span>
    </>
  )
}

function textOf({ state, retryInMs = 0, at = 0 }: Connection, now: number, isShort: boolean): string {
  if (state === 'live') return 'Live'
  if (state === 'offline') return isShort ? 'Offline' : `Offline, as of ${clockText(at)}`
  const leftSeconds = Math.ceil((retryInMs - Math.max(0, now - at)) / 1000)
  return leftSeconds > 0 ? `Reconnecting in ${leftSeconds} s` : 'Reconnecting…'
}
