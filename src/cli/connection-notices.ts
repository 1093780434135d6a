import type { ClientNotice } from '../client/index.ts'

/**
 * Puts what a client says of its connection into words. The tries to come back are told while the waits between them grow: of a
 * server that stays away there is nothing new to say.
 */
export function connectionNotices(say: (text: string) => void): (notice: ClientNotice) => void {
  let toldMs = 0
  return ({ code, message, retryInMs = 0 }) => {
    if (code !== 'reconnecting') {
      toldMs = 0
      return say(message)
    }
    if (retryInMs < 2 * toldMs) return
    toldMs = Math.max(1, retryInMs)
    say(`The connection is lost; the next try is in ${waitText(retryInMs)}`)
  }
}

function waitText(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`
}
