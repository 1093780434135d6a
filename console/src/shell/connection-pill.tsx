import { useClient, useConnection } from 'holdfast/react'
import { classes } from '../design/classes.ts'
import { useNow } from '../design/now.ts'
import { clockText } from '../design/span-text.ts'

type Connection = ReturnType<typeof useConnection>

const looks: Readonly<Record<Connection['state'], { readonly ink: string; readonly dot: string }>> = {
  live: { ink: 'text-ok', dot: 'bg-ok' },
  reconnecting: { ink: 'text-warn hover:underline', dot: 'bg-warn animate-wait' },
  offline: { ink: 'text-bad hover:underline', dot: 'bg-bad' },
}

/** Whether what is on the screen is how it is now, and if not, as of when; and then the way to try at once. */
export function ConnectionPill({ isShort = false }: { readonly isShort?: boolean }) {
  const client = useClient()
  const connection = useConnection()
  const { state } = connection
  const now = useNow(state === 'reconnecting')
  const { ink, dot } = looks[state]
  return (
    <>
      <button
        type="button"
        disabled={state === 'live'}
        title={state === 'live' ? undefined : 'Try now'}
        onClick={() => client.connection.retry()}
        className={classes(
          'inline-flex h-6 items-center gap-2 rounded-full text-xs font-medium whitespace-nowrap',
          ink,
        )}
      >
        <span className={classes('size-2 rounded-full', dot)} />
        <span data-connection={state}>{textOf(connection, now, isShort)}</span>
        {state !== 'live' && <span className="sr-only">. Try now</span>}
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
