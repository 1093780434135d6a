import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SeededRandom } from '../../src/chaos/seeded-random.ts'
import { principalOf, type ThreadKey, threadOf } from '../../src/core/id.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { logOf, numbersOf, upTo } from '../../src/testing/store-suite/builders.ts'
import { MarkedWork } from '../unit/stores/marked-work.ts'

const threadCount = 8
const killCount = 12

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-crash-'))
  path = join(folder, 'store.db')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the process and kills it a little after it says this. Answers with the threads whose erase it had acknowledged. */
async function eraseAndDie(seed: number, at: string, turns: number): Promise<Set<number>> {
  const program = fileURLToPath(new URL('./erase-process.ts', import.meta.url))
  const child = spawn(process.execPath, [program, path, String(seed), String(threadCount)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  const erased = new Set<number>()
  for await (const line of createInterface({ input: child.stdout })) {
    const done = /^erased (\d+)$/.exec(line)?.[1]
    if (done !== undefined) erased.add(Number(done))
    if (line !== at) continue
    for (let turn = 0; turn < turns; turn++) await nextTurn()
    child.kill('SIGKILL')
  }
  const [, signal] = await gone
  expect(signal).toBe('SIGKILL')
  return erased
}

function traceCount(mark: string): number {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(mark)).length
}

/** Whole, or erased to the last byte. */
async function statusOf(store: Store, work: MarkedWork, thread: ThreadKey): Promise<'whole' | 'erased'> {
  const log = await logOf(store, thread)
  const { head, first } = await store.events(thread, { after: 0, limit: 1 })
  const { tasks } = await store.tasks({ principal: principalOf(thread), thread: threadOf(thread), limit: 1 })
  if (first === 1) {
    expect(numbersOf(log)).toEqual(upTo(head))
    expect(tasks.length).toBe(1)
    return 'whole'
  }
  expect({ first, log, tasks, traces: traceCount(work.mark(thread)) }).toEqual({
    first: head + 1,
    log: [],
    tasks: [],
    traces: 0,
  })
  return 'erased'
}

it('a process killed amid erases leaves each thread whole or erased to the last byte, and a sound file', async () => {
  const random = new SeededRandom(11)
  let amidCount = 0
  for (let kill = 0; kill < killCount; kill++) {
    const nth = 1 + random.below(threadCount - 2)
    const acknowledged = await eraseAndDie(kill, `erasing ${nth}`, random.below(400))
    const store = sqliteStore({ path })
    await store.open()
    const work = new MarkedWork(threadCount, 0)
    for (const [n, thread] of work.threads.entries()) {
      const status = await statusOf(store, work, thread)
      if (acknowledged.has(n)) expect(status).toBe('erased')
      if (n > Math.max(nth, ...acknowledged) + 1) expect(status).toBe('whole')
      if (status === 'erased' && !acknowledged.has(n)) amidCount += 1
    }
    await store.close()
    const database = new DatabaseSync(path)
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    database.close()
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  }
  console.log(`${killCount} kills, ${amidCount} between the commit of an erase and its answer`)
})
