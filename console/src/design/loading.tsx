import { useConnection } from 'holdfast/react'
import { CloudOff } from 'lucide-react'
import { Empty } from './empty.tsx'
import { unheardTitle } from './error-state.tsx'
import { Skeleton, useLater } from './skeleton.tsx'

// A server that is away for less than this comes back before anybody could read why.
const awayMs = 1500

/** Stands where something will be; and says why, if it does not come because the server does not answer. */
export function Loading({ rows }: { readonly rows?: number }) {
  const { state } = useConnection()
  const isLate = useLater(awayMs)
  if (state === 'live' || !isLate) return <Skeleton {...(rows !== undefined && { rows })} />
  return (
    <div role="status" className="flex flex-1 flex-col">
      <Empty icon={CloudOff} title={unheardTitle()}>
        <p>This page goes on by itself as soon as it is heard again.</p>
      </Empty>
    </div>
  )
}
