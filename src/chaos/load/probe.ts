import type { SeededRandom } from '../seeded-random.ts'
import { WireClient } from './wire-client.ts'
import type { World } from './world.ts'

// One of no installation: ids are counted up, and no round gets that far.
const unknownTask = 'bg_9007199254740000'

const routes: readonly (readonly [method: 'GET' | 'POST', path: (task: string) => string, body?: object])[] = [
  ['GET', (task) => `/v1/tasks/${task}`],
  ['POST', (task) => `/v1/tasks/${task}/cancel`, {}],
  ['POST', (task) => `/v1/tasks/${task}/messages`, { content: 'from a stranger' }],
  ['GET', (task) => `/v1/threads/t0/events?task=${task}`],
]

/** Asks for a task as somebody else, and for one that does not exist: both have to be answered alike. */
export async function probe(world: World, random: SeededRandom, owner: string, task: string): Promise<void> {
  const stranger = random.pick(world.principals.filter((principal) => principal !== owner))
  const [method, path, body] = random.pick(routes) ?? []
  if (stranger === undefined || method === undefined || path === undefined) return
  const wire = new WireClient(world, random, stranger, false)
  const found = await wire.raw(method, path(task), body)
  const unknown = await wire.raw(method, path(unknownTask), body)
  // A node that cannot serve says so to everybody.
  if (found.status === 503 || unknown.status === 503) return
  const entry = { by: stranger, path: `${method} ${path(task)}`, status: found.status }
  world.recorder.write({ kind: 'probe', ...entry, body: plain(found.text), unknown: plain(unknown.text) })
}

function plain(text: string): string {
  return text.replace(/"requestId":"[^"]*"/, '')
}
