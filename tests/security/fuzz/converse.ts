import { connect } from 'node:net'

/** What came back until both sides had hung up. */
export interface Conversation {
  readonly received: string
  readonly statuses: readonly number[]
}

/**
 * Sends bytes and waits for the other side to hang up, or for the end of what is waited for. Who `leaves` says at once that
 * there is no more to come: what is incomplete then has to be given up. A server that does neither lets this wait for ever.
 */
export async function converse(
  bytes: Buffer,
  port: number,
  { leaves, until }: { readonly leaves: boolean; readonly until?: string },
): Promise<Conversation> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1')
    // A stream goes on by itself; that it began is enough.
    const isStream = /^content-type: (text\/event-stream|application\/x-ndjson)/im.test(received)
    if (isStream || (until !== undefined && received.includes(until))) socket.destroy()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  if (leaves) socket.end(bytes)
  else socket.write(bytes)
  await closed
  return {
    received,
    statuses: [...received.matchAll(/^HTTP\/1\.[01] ([0-9]{3})/gm)].map(([, status]) => Number(status)),
  }
}

/** What is wrong with what came back, if anything. */
export function complaintOf(what: string, sent: Buffer, { received, statuses }: Conversation): string[] {
  const isBad = statuses.some((status) => status >= 500) || /"status":5\d\d/.test(received)
  const isInjected = /^set-cookie: injected|^data: injected/im.test(received)
  if (!isBad && !isInjected) return []
  return [`${what}: ${JSON.stringify(sent.toString('latin1').slice(0, 2000))} → ${received.slice(0, 1000)}`]
}

/** Does all of these, so many at once. */
export async function inParallel<Item>(items: readonly Item[], atOnce: number, act: (item: Item) => Promise<void>) {
  const left = items[Symbol.iterator]()
  const one = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await act(next.value)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
