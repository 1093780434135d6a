import { onTestFinished } from 'vitest'
import {
  type AttachItem,
  type Client,
  type ClientNotice,
  type ClientOptions,
  createClient,
} from '../../../src/client/index.ts'
import { type ManualClock, manualClock } from '../../../src/testing/manual-clock.ts'
import { event } from './events.ts'
import { FakeServer } from './fake-server.ts'

/** A client of a fake server, on a clock that the test moves. */
export interface ClientWorld {
  readonly clock: ManualClock
  readonly server: FakeServer
  readonly client: Client
  readonly notices: readonly ClientNotice[]
}

export function clientWorld(options: Partial<ClientOptions> = {}, known = 0): ClientWorld {
  const clock = manualClock()
  const server = new FakeServer()
  grow(server, known)
  const notices: ClientNotice[] = []
  const { fetch, WebSocket } = server
  const onNotice = (notice: ClientNotice) => void notices.push(notice)
  const client = createClient({
    ...{ url: 'http://server/', token: 'secret', fetch, WebSocket, clock, random: () => 0, onNotice },
    ...options,
  })
  onTestFinished(() => client.close())
  return { clock, server, client, notices }
}

/** Adds so many events to the log, in the order of their numbers. */
export function grow(server: FakeServer, count: number): void {
  for (let added = 0; added < count; added += 1) {
    server.append(event('text.delta', { text: 'a' }, { seq: server.head + 1 }))
  }
}

/** Takes so many items, and leaves the iterator open. */
export async function take(items: AsyncIterator<AttachItem>, count: number): Promise<AttachItem[]> {
  const taken: AttachItem[] = []
  while (taken.length < count) {
    const { done, value } = await items.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

/** Numbers of events, and the names of what is none. */
export function brief(items: readonly AttachItem[]): (number | string)[] {
  return items.map((item) =>
    'seq' in item ? item.seq : item.type === 'snapshot' ? `snapshot at ${item.head}` : item.code,
  )
}
