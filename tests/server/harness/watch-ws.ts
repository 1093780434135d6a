import { Refused } from './refused.ts'
import type { TestServer } from './server.ts'
import { type Frame, Socket } from './socket.ts'
import { Tape, type Watcher } from './tape.ts'
import type { WatchOptions } from './watch-sse.ts'

/** Watches a log over a WebSocket of its own. Resolves once it is attached; rejects with what the server refuses. */
export async function watchWs(server: TestServer, options: WatchOptions): Promise<Watcher> {
  const { thread, task, after = 0, types, as } = options
  const socket = await Socket.open(server, as)
  const tape = new Tape(after, task !== undefined || types !== undefined)
  const attached = Promise.withResolvers<void>()
  const take = (frame: Frame) => {
    if (frame.type === 'attached') return attached.resolve()
    if (frame.type === 'error' && frame.problem) return attached.reject(new Refused(frame.problem))
    if (frame.type === 'event' && frame.event) return tape.push(frame.event)
    // A thread that was deleted says `detached`, a task that has ended says `end`.
    if (frame.type === (task === undefined ? 'detached' : 'end')) return tape.end({ by: 'end' })
    return tape.break(`A ${frame.type} came to an attachment`)
  }
  const filter = { ...(task !== undefined && { task }), ...(types !== undefined && { types: types.split(',') }) }
  socket.follow({ type: 'attach', thread, after, ...filter }, take)
  void socket.closed.then((code) => {
    tape.end({ by: 'close', code })
    attached.reject(new Error(`The socket was closed with ${code}`))
  })
  try {
    await attached.promise
  } catch (error) {
    socket.drop()
    throw error
  }
  return {
    events: tape.events,
    status: 200,
    ended: tape.ended,
    until: (isLast) => tape.until(isLast),
    close: () => socket.drop(),
  }
}
