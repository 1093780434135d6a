import type { Task } from '../../core/task.ts'
import { systemClock } from '../../runtime/clock.ts'
import { threadName } from '../history/entry.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import { ask, bodyOf } from './http.ts'
import { openReading } from './reading.ts'
import type { World } from './world.ts'

const retryMs = 100

/** Has one node accept a run and stream it to its end, again and again until it does, and writes down when it did. */
export async function serveOnce(world: World, node: ServedNode): Promise<void> {
  const [principal = ''] = world.principals
  const token = world.token(principal)
  const thread = world.threads[principal]?.[0] ?? ''
  const { timeoutMs, recorder } = world
  const body = { agent: 'script', input: { script: [{ say: `${node.name} serves` }] } }
  while (!world.isOver) {
    try {
      const url = `${node.url}/v1/threads/${thread}/runs`
      const task = bodyOf<Task>(await ask({ url, token, method: 'POST', body, timeoutMs }))
      recorder.write({ kind: 'accepted', thread: threadName(principal, thread), task: task.id, node: node.name })
      const place = { url: node.url, token, thread, task: task.id, after: 0, transport: 'sse', timeoutMs } as const
      const reading = await openReading(place)
      const end = await reading.ended
      if (end === 'end') return recorder.write({ kind: 'served', node: node.name, at: systemClock.now() })
    } catch {
      // It is asked again until it serves, or the round is over.
    }
    await pause(retryMs)
  }
}
