import type { Task } from '../../core/task.ts'
import { threadName } from '../history/entry.ts'
import { FinalReads } from '../load/final-reads.ts'
import { ask, bodyOf } from '../load/http.ts'
import type { World } from '../load/world.ts'
import type { Deployment } from '../nodes/deployment.ts'
import { residentBytes } from '../nodes/resident-memory.ts'
import type { ServedNode } from '../nodes/served-node.ts'
import { pause } from '../pause.ts'
import { type IdleStream, openIdleStream } from './idle-stream.ts'

const principal = 'mallory'
const threadCount = 20
const atOnce = 50
const memoryMax = 400_000_000
// So long nothing happens: longer than it takes until every stream was sent a sign of life.
const idleMs = 16_000
const lookMs = 500
const wakeMsMax = 60_000

interface Held {
  readonly thread: string
  readonly stream: IdleStream
}

/** Opens so many streams of one node, looks what it holds in memory, and then wakes them all. */
export async function openIdle(world: World, deployment: Deployment, count: number): Promise<void> {
  if (count === 0) return
  const { strangerToken: token, nodes } = deployment
  const [node] = nodes
  if (token === undefined || node?.pid === undefined)
    throw new Error('Idle streams are counted only of nodes of the program’s own')
  const threads = Array.from({ length: Math.min(threadCount, count) }, (_, index) => `idle${index}`)
  world.admit(principal, token, threads)
  const held = await openAll(node, token, threads, count)
  const bytes = await mostMemory(node.pid)
  const open = held.filter(({ stream }) => !stream.isOver).length
  world.recorder.write({ kind: 'memory', node: node.name, idle: open, bytes, bytesMax: memoryMax })
  await wake(world, node, token, threads)
  await seen(world, node, held)
  for (const { thread, stream } of held) {
    const { transport, events } = stream
    const read = { transport, node: node.name, after: 0, events, end: 'left' } as const
    world.recorder.write({ kind: 'stream', thread: threadName(principal, thread), ...read })
    stream.close()
  }
}

async function openAll(node: ServedNode, token: string, threads: readonly string[], count: number): Promise<Held[]> {
  const held: Held[] = []
  let begun = 0
  const one = async () => {
    while (begun < count) {
      const index = begun
      begun += 1
      const thread = threads[index % threads.length] ?? ''
      // Half of the streams of each thread go over each transport.
      const transport = Math.floor(index / threads.length) % 2 === 0 ? 'sse' : 'ws'
      held.push({ thread, stream: await openIdleStream(transport, { url: node.url, token, thread }) })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return held
}

async function mostMemory(pid: number): Promise<number> {
  let most = 0
  for (let waitedMs = 0; waitedMs < idleMs; waitedMs += lookMs) {
    await pause(lookMs)
    most = Math.max(most, await residentBytes(pid))
  }
  return most
}

/** Something happens in every thread. */
async function wake(world: World, { url, name }: ServedNode, token: string, threads: readonly string[]): Promise<void> {
  for (const thread of threads) {
    const body = { agent: 'script', input: { script: [{ say: 'good morning' }] } }
    const request = { url: `${url}/v1/threads/${thread}/runs`, token, method: 'POST', body, timeoutMs: 10_000 } as const
    const { id, seq } = bodyOf<Task>(await ask(request))
    const where = { thread: threadName(principal, thread), task: id, node: name, seq }
    world.recorder.write({ kind: 'accepted', ...where })
  }
}

/** Waits until all have seen all of it, but not for ever: who has not is told of as missing. */
async function seen(world: World, node: ServedNode, held: readonly Held[]): Promise<void> {
  const reads = new FinalReads(world, node)
  const deadline = performance.now() + wakeMsMax
  // Others go on with their work, and never come to an end of it.
  while ((await reads.live(principal)).length > 0 && performance.now() < deadline) await pause(lookMs)
  const heads = new Map<string, number>()
  for (const { thread } of held) if (!heads.has(thread)) heads.set(thread, await reads.head(principal, thread))
  const late = () => held.filter(({ thread, stream }) => (stream.events.at(-1)?.[0] ?? 0) < (heads.get(thread) ?? 0))
  while (late().length > 0 && performance.now() < deadline) await pause(lookMs)
  if (late().length > 0) {
    const what = `${late().length} idle streams did not see what happened`
    world.recorder.write({ kind: 'broken', what })
  }
}
