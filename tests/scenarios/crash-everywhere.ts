import { expect } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Agents } from '../../src/runtime/agent.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import type { Fault } from '../../src/testing/faulty-store.ts'
import { inQuietTime } from './quiet-time.ts'
import { type Allowed, checkInvariants, Executions, type Picture, pictureOf } from './resume-invariants.ts'
import { createWorld, logOf, type StoreKind, type World } from './world.ts'

/** Work of a thread named `t` that comes to an end by itself, and the clients that want it. */
export interface Story extends Allowed {
  /** The agents of one process. What they note is checked. */
  agents(executions: Executions): Agents
  /** What clients ask for. They come back after a crash and ask again, for nothing twice. Resolves when they have it. */
  clients(runtime: Runtime): Promise<unknown>
  readonly concurrency?: number
}

/** At which commit of a process it dies, and whether that commit still happens. */
export interface Crash {
  readonly at: number
  readonly fault: Extract<Fault, 'crash_before' | 'crash_after'>
}

export interface Played {
  readonly picture: Picture
  /** How many of the crashes came about before the end. */
  readonly crashCount: number
  /** How many commits the last process made. */
  readonly commitCount: number
}

/** A test of crashes opens many stores; only one that hangs takes this long. */
export const crashTestMs = 120_000

const faults = ['crash_before', 'crash_after'] as const
// Opening a durable store is mostly waiting, so a few stories are told at a time.
const togetherMax = 4
// All durations in stories are multiples of it, so time passes exactly.
const tickMs = 5

/** Tells the story once without a crash, then dies at each commit of its process, and compares. */
export async function crashEverywhere(kind: StoreKind, story: Story): Promise<void> {
  const calm = await tell(kind, story, [])
  const teller = (crashes: readonly Crash[]) => tellAndCompare(kind, story, calm, crashes)
  if (kind !== 'memory') return tellAll(teller, [[{ at: 1, fault: 'crash_before' }], ...eachCommit(calm)])
  for (const fault of faults) {
    const crashCount = await whileItCrashes(async (at) => (await teller([{ at, fault }])) === 1)
    expect(crashCount).toBeGreaterThanOrEqual(calm.commitCount)
  }
}

/**
 * Dies at each commit of the first process and again at each of the second: after it, because what a store holds then is what
 * it holds before the next one.
 */
export async function crashEverywhereTwice(kind: StoreKind, story: Story): Promise<void> {
  const calm = await tell(kind, story, [])
  const teller = (crashes: readonly Crash[]) => tellAndCompare(kind, story, calm, crashes)
  if (kind !== 'memory')
    return tellAll(
      teller,
      eachCommit(calm).map(([first]) => (first ? [first, laterCrash(first)] : [])),
    )
  for (const fault of faults) {
    const crashCount = await whileItCrashes(async (at) => {
      const again = async (second: Crash) => (await teller([{ at, fault }, second])) === 2
      const hasCrashed = await again({ at: 1, fault: 'crash_before' })
      await whileItCrashes((secondAt) => again({ at: secondAt, fault: 'crash_after' }))
      return hasCrashed
    })
    expect(crashCount).toBeGreaterThanOrEqual(calm.commitCount - 1)
  }
}

/** Crashes at the first commit, the second, and so on, until there is none to crash at any more. Says at how many it did. */
async function whileItCrashes(crashAt: (at: number) => Promise<boolean>): Promise<number> {
  for (let at = 1; ; at += 1) if (!(await crashAt(at))) return at - 1
}

/*
 * A durable store is dear to open, so it gets a part: one fault for each commit, which still reaches every state of the
 * store; and of the pairs, one second crash for each first.
 */

function eachCommit({ commitCount }: Played): Crash[][] {
  return Array.from({ length: commitCount }, (_, index) => [{ at: index + 1, fault: 'crash_after' }])
}

function laterCrash({ at }: Crash): Crash {
  return { at: 1 + ((at * 5) % 7), fault: at % 2 === 0 ? 'crash_before' : 'crash_after' }
}

async function tellAll(
  teller: (crashes: readonly Crash[]) => Promise<number>,
  plans: readonly Crash[][],
): Promise<void> {
  const waiting = [...plans]
  const tellSome = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await teller(next)
  }
  await Promise.all(Array.from({ length: togetherMax }, tellSome))
}

/** Says how many of the crashes came about before the end. */
async function tellAndCompare(kind: StoreKind, story: Story, calm: Played, crashes: readonly Crash[]): Promise<number> {
  const played = await tell(kind, story, crashes)
  const where = crashes.map(({ at, fault }) => `${fault} of commit ${at}`).join(', then ')
  checkInvariants(played.picture, calm.picture, story, where)
  return played.crashCount
}

/** Tells a story in a world of its own, in as many processes as it takes. */
export async function tell(kind: StoreKind, story: Story, crashes: readonly Crash[]): Promise<Played> {
  const here = createWorld(kind)
  const executions = new Executions(here)
  const seen: Event[] = []
  try {
    for (let life = 0; ; life += 1) {
      const runtime = await open(here, story, executions, crashes[life])
      void watch(runtime, seen)
      const isOver = await liveOn(here, runtime, story)
      if (!isOver) {
        await here.crash()
        continue
      }
      const picture = { ...(await pictureOf(runtime, await logOf(runtime, 't'))), seen, executions }
      return { picture, crashCount: life, commitCount: here.store.commitCount }
    }
  } finally {
    await here.end()
  }
}

function open(here: World, story: Story, executions: Executions, crash: Crash | undefined): Promise<Runtime> {
  const { concurrency } = story
  const options = { agents: story.agents(executions), ...(concurrency !== undefined && { concurrency }) }
  return here.open(options, (_units, number) => (number === crash?.at ? crash.fault : 'none'))
}

/** Says whether the story came to its end before the process died. */
async function liveOn(here: World, runtime: Runtime, story: Story): Promise<boolean> {
  const died = here.store.crashed.then(() => false)
  const ended = story.clients(runtime).then(() => untilAllEnded(runtime))
  return inQuietTime(here, Promise.race([died, ended.then(() => true)]), tickMs)
}

/** Tasks may outlive what the clients wait for. */
async function untilAllEnded(runtime: Runtime): Promise<void> {
  for (;;) {
    const { tasks } = await runtime.list({ thread: 't', status: ['pending', 'running'] })
    if (tasks.length === 0) return
    await Promise.all(tasks.map(({ id }) => runtime.wait(id)))
  }
}

async function watch(runtime: Runtime, seen: Event[]): Promise<void> {
  for await (const event of runtime.subscribe({ thread: 't', after: seen.at(-1)?.seq ?? 0 })) seen.push(event)
}
