import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from './child.ts'

/** The processes of a benchmark over the wire: Holdfast, a bare server, and the client of both. */
export interface Cast {
  readonly holdfast: Child
  readonly bare: Child
  readonly client: Child
  readonly url: string
  readonly bareUrl: string
}

/** A thread that no other pass uses. */
export function newThread(): string {
  threadCount += 1
  return `thread-${threadCount}`
}

let threadCount = 0

/** Starts the processes, has the bare server load the frames of a run of so many events, and ends them afterwards. */
export async function withCast(frameCount: number, work: (cast: Cast) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const children = ['./holdfast-process.ts', './bare-process.ts', './client-process.ts'].map((file) => new Child(file))
  const [holdfast, bare, client] = children as [Child, Child, Child]
  try {
    const [url, bareUrl] = await Promise.all([holdfast.ask<string>('url'), bare.ask<string>('url')])
    const file = join(folder, 'frames')
    const { targets, posts } = emitting(url, newThread(), 1, frameCount)
    await client.ask('record', { target: targets[0], given: posts[0], file })
    await bare.ask('load', { file })
    await work({ holdfast, bare, client, url, bareUrl })
  } finally {
    await Promise.all(children.map((child) => child.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A run of so many events in a thread with so many subscribers. */
export function emitting(url: string, thread: string, subscriberCount: number, count: number) {
  const target = { url, path: `/v1/threads/${thread}/events` }
  const body = { agent: 'emitter', input: { count } }
  return {
    targets: Array.from({ length: subscriberCount }, () => target),
    posts: [{ url, path: `/v1/threads/${thread}/runs`, body }],
  }
}

/** The same from the bare server. `count` is of frames: those of a run are five more than it emits. */
export function bareEmitting(url: string, mode: 'naive' | 'joined', subscriberCount: number, count: number) {
  const channel = newThread()
  return {
    targets: Array.from({ length: subscriberCount }, () => ({ url, path: `/events/${channel}` })),
    posts: [{ url, path: '/go', body: { channel, mode, count } }],
  }
}
