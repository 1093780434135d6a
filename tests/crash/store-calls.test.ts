import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallPoint } from './counted-store.ts'
import { buildStoryProgram, type StoryProgram } from './story-program.ts'
import { storyViolations, Telling } from './telling.ts'

interface Tried {
  /** How often a process died where it was to die. */
  deathCount: number
  readonly wrong: string[]
}

let program: StoryProgram
let points: CallPoint[] = []

beforeAll(async () => {
  program = await buildStoryProgram()
  points = await Telling.within((telling) => telling.count(), program.url)
})

afterAll(() => program.remove())

/** Tells the story once for each point, with so many processes that die there, two stories at a time. */
async function tryAll(chosen: readonly CallPoint[], lives: number): Promise<Tried> {
  const left = [...chosen]
  const tried: Tried = { deathCount: 0, wrong: [] }
  async function tryNext(): Promise<void> {
    for (let point = left.shift(); point; point = left.shift()) await tryPoint(point, lives, tried)
  }
  await Promise.all([tryNext(), tryNext()])
  return tried
}

async function tryPoint(point: CallPoint, lives: number, tried: Tried): Promise<void> {
  const found = await Telling.within(async (telling) => {
    for (let life = 1; life <= lives; life++) if (await telling.die(point)) tried.deathCount += 1
    return telling.finish()
  }, program.url)
  const { method, nth, when } = point
  tried.wrong.push(...storyViolations(found).map((violation) => `${when} ${method} ${nth}: ${violation}`))
}

describe('sqlite', () => {
  it('REST-13 nothing is lost or repeated when the process dies before or after any call of the store', async () => {
    const { deathCount, wrong } = await tryAll(points, 1)
    console.log(`${points.length} points, ${deathCount} deaths`)
    expect(wrong).toEqual([])
    // Timing decides which calls are made, so a few of them do not come again.
    expect(deathCount).toBeGreaterThan(points.length * 0.8)
  })

  it('REST-13 nothing is lost or repeated when the next process dies at the same commit again', async () => {
    const commits = points.filter((point) => point.method === 'commit')
    const { deathCount, wrong } = await tryAll(commits, 2)
    console.log(`${commits.length} points, ${deathCount} deaths`)
    expect(wrong).toEqual([])
    expect(deathCount).toBeGreaterThan(commits.length)
  })
})
