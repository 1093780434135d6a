import type { ClientNotice } from './asks.ts'
import type { Connection } from './connection.ts'

/** Says when a connection that was there is lost, and when it is back. Returns what ends it. */
export function notices(connection: Connection, onNotice: (notice: ClientNotice) => void): () => void {
  let hasBeenLive = false
  let isLost = false
  return connection.subscribe(() => {
    const now = connection.snapshot()
    if (now.state === 'live') {
      if (isLost) onNotice({ code: 'reconnected', message: 'The server is heard again' })
      hasBeenLive = true
      isLost = false
    } else if (now.state === 'reconnecting' && hasBeenLive && now.retryInMs > 0) {
      isLost = true
      const message = `The connection is lost; the next try is in ${now.retryInMs} ms`
      onNotice({ code: 'reconnecting', message, retryInMs: now.retryInMs })
    }
  })
}
