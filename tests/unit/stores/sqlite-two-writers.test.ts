import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { principal, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { Mail, Unit } from '../../../src/core/unit.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { sqliteStoreWith } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import {
  accepting,
  added,
  commit,
  deltas,
  ended,
  ending,
  fenced,
  headOf,
  home,
  ids,
  liveOf,
  logOf,
  mailTo,
  numbersOf,
  pending,
  running,
  starting,
  step,
  unit,
  upTo,
} from '../../../src/testing/store-suite/builders.ts'
import { TurnsRule } from './turns-rule.ts'

let folder: string
let path: string
let store: Store
let rule: TurnsRule

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
})

afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function open(made = new TurnsRule(['quick'])): Promise<void> {
  rule = made
  store = sqliteStoreWith({ path }, () => rule)
  await store.open()
}

/** A store whose quick writer has just committed event 1. */
async function openAndCommit(): Promise<void> {
  await open()
  await commit(store, unit({ events: deltas(1) }))
  expect(rule.committers).toEqual(['quick'])
}

function inFile(sql: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare(sql).get()
  database.close()
  return row && Object.values(row)[0]
}

describe('the two writers of a SQLite store', () => {
  it('write one log, whoever made the commit before', async () => {
    await open(new TurnsRule())
    for (let n = 0; n < 60; n++) await commit(store, unit({ events: deltas(2) }))
    expect(new Set(rule.committers)).toEqual(new Set(['quick', 'writer']))
    expect(numbersOf(await logOf(store, home, 7))).toEqual(upTo(120))
    await store.close()
    store = sqliteStore({ path })
    await store.open()
    expect(await headOf(store)).toBe(120)
  })

  it('each store how far task numbers went, and never less than the other', async () => {
    await open(new TurnsRule())
    for (let n = 0; n < 30; n++) {
      const number = await store.allocate(1)
      const tasks = [added(pending(`bg_${number}`, { ready: false }))]
      await commit(store, unit({ tasks, events: deltas(1) }))
      expect(inFile('SELECT next_task FROM holdfast_meta')).toBe(n + 1)
    }
    expect(new Set(rule.committers)).toEqual(new Set(['quick', 'writer']))
  })

  it('commit in the order in which they were asked to', async () => {
    await openAndCommit()
    const large = commit(store, unit({ events: deltas(5_000) }))
    const small = commit(store, unit({ events: deltas(1) }))
    const verdicts = await Promise.all([large, small])
    expect(verdicts).toMatchObject([[{ first: 2 }], [{ first: 5_002 }]])
    expect(rule.committers).toEqual(['quick', 'writer', 'writer'])
  })

  it('do not take the log for short after a trim that found nothing', async () => {
    await openAndCommit()
    await commit(store, unit({ operation: 'trim', trim: 0 }))
    expect([rule.chosen, rule.committers]).toEqual([['quick', 'writer'], ['quick']])
  })

  it('keep the log below two checkpoints, however many commits are the quick one’s', async () => {
    await open()
    let longest = 0
    for (let n = 0; n < 2_000; n++) {
      await commit(store, unit({ thread: threadKey(principal('alice'), threadId(`${n % 300}`)), events: deltas(3) }))
      longest = Math.max(longest, statSync(`${path}-wal`).size)
    }
    const quickCount = rule.committers.filter((committer) => committer === 'quick').length
    expect(quickCount).toBeGreaterThan(1_800)
    expect(longest).toBeLessThan(2 * 1_000 * 4_096)
  })
})

describe('a log that somebody reads', () => {
  it('is the writer’s to move until nothing of it is left', async () => {
    await openAndCommit()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM chunks').get()
    for (let n = 0; n < 200 && rule.committers.at(-1) === 'quick'; n++) await commit(store, unit({ events: deltas(3) }))
    expect(rule.committers.at(-1)).toBe('writer')
    const commits = async (count: number): Promise<string[]> => {
      for (let n = 0; n < count; n++) await commit(store, unit({ events: deltas(3) }))
      return rule.committers.slice(-count)
    }
    expect(await commits(3)).toEqual(['writer', 'writer', 'writer'])
    reader.close()
    expect(await commits(3)).toEqual(['writer', 'quick', 'quick'])
  })
})

describe('a batch that does not get across to the writer', () => {
  it('leaves it to read anew what the quick one has written', async () => {
    await openAndCommit()
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    const uncloneable = { usage: { total: () => 1 } } as unknown as NonNullable<Unit['report']>
    rule.turns = ['writer']
    await commit(store, unit({ events: deltas(1) }))
    rule.turns = ['quick']
    await commit(store, starting(running('bg_0'), { rev: 1 }))
    rule.turns = ['writer']
    await expect(store.commit([fenced('bg_0', 1, { report: uncloneable })])).rejects.toThrow('could not be cloned')
    expect(await store.commit([fenced('bg_0', 1, { events: deltas(1) })])).toMatchObject([{ committed: true }])
    expect(rule.committers.slice(-3)).toEqual(['writer', 'quick', 'writer'])
  })
})

describe('a commit that the quick writer is to make', () => {
  it('is the writer’s where another program holds the file', async () => {
    await openAndCommit()
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const committing = commit(store, unit({ events: deltas(1) }))
    other.exec('COMMIT')
    other.close()
    await committing
    expect(rule.committers).toEqual(['quick', 'writer'])
    expect(await headOf(store)).toBe(2)
  })

  it('says nothing of the disk if it is refused', async () => {
    await openAndCommit()
    expect(await store.commit([unit({ rev: 7, events: deltas(1) })])).toMatchObject([{ committed: false }])
    expect(rule.committers).toEqual(['quick'])
  })

  it.each([
    ['a few long steps', 'writer', 3, 16_384],
    ['many short steps', 'writer', 30, 1],
    ['a few short steps', 'quick', 3, 1_024],
  ] as const)('and that ends a task with %s is made by the %s one', async (_what, committer, count, length) => {
    await open()
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    await commit(store, starting(running('bg_0'), { rev: 1 }))
    const value = JSON.stringify('x'.repeat(length))
    const steps = Array.from({ length: count }, (_, n) => step('bg_0', `${n}`, { value }))
    await commit(store, fenced('bg_0', 1, { operation: 'step', steps }))
    await commit(store, ending(ended('bg_0'), { rev: 2, forget: ids('bg_0') }))
    expect(rule.committers.at(-1)).toBe(committer)
    expect(await store.steps(taskId('bg_0'))).toEqual([])
  })

  it.each([
    ['many', 'writer', 30],
    ['a few', 'quick', 3],
  ] as const)('and that reads %s messages is made by the %s one', async (_what, committer, count) => {
    await open()
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    const mail = Array.from({ length: count }, (_, n) => mailTo('bg_0', `msg_${n}`, { place: n }))
    await commit(store, unit({ rev: 1, mail }))
    await commit(store, unit({ rev: 2, read: mail.map(({ id }) => id) }))
    expect(rule.committers.at(-1)).toBe(committer)
    expect((await liveOf(store)).mail).toEqual([])
  })

  it('is the writer’s if a message that it reads came with much beside its text', async () => {
    await open()
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    const steer = { body: 'x'.repeat(40_000) } as unknown as NonNullable<Mail['steer']>
    await commit(store, unit({ rev: 1, mail: [mailTo('bg_0', 'msg_0', { steer })] }))
    await commit(store, unit({ rev: 2, read: ['msg_0'] }))
    expect(rule.committers.at(-1)).toBe('writer')
  })

  it('ends all writing if what it would remove is found damaged', async () => {
    await open()
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    await commit(store, starting(running('bg_0'), { rev: 1 }))
    await commit(store, fenced('bg_0', 1, { operation: 'step', steps: [step('bg_0', 'a')] }))
    await store.close()
    const page = Number(inFile(`SELECT rootpage FROM sqlite_schema WHERE name = 'steps_by_key'`))
    await open()
    const file = readFileSync(path)
    writeFileSync(path, file.fill(0xff, (page - 1) * 4_096, page * 4_096))
    const end = ending(ended('bg_0'), { rev: 2, forget: ids('bg_0') })
    for (const refusedUnit of [end, unit({ events: deltas(1) })])
      await expect(store.commit([refusedUnit])).rejects.toMatchObject({ code: 'store_failed' })
    expect(rule.chosen).toEqual(['quick'])
  })

  it('is the writer’s while traces of what was erased are in the files', async () => {
    await openAndCommit()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM chunks').get()
    await commit(store, unit({ rev: (await store.livePart(home))?.rev ?? 0, erase: true }))
    await commit(store, unit({ events: deltas(1) }))
    expect(rule.committers).toEqual(['quick', 'writer', 'writer'])
    reader.close()
  })

  it.each(['is whole again', 'is still damaged'])(
    'and that finds the file damaged ends all writing, and the store can be closed while the file %s',
    async (state) => {
      await openAndCommit()
      // So that the writers read from the file what is to be damaged in it.
      await store.close()
      await open()
      const whole = readFileSync(path)
      writeFileSync(path, damaged(whole))
      await expect(commit(store, unit({ events: deltas(1) }))).rejects.toMatchObject({ code: 'store_failed' })
      expect(rule.chosen).toEqual(['quick'])
      if (state === 'is whole again') writeFileSync(path, whole)
      const forWriter = unit({ events: deltas(5_000) })
      await expect(commit(store, forWriter)).rejects.toMatchObject({ code: 'store_failed' })
      expect(rule.committers).toEqual([])
      await store.close()
    },
  )
})

/** All pages but the first are overwritten. */
function damaged(whole: Buffer): Buffer {
  return Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 0xff)])
}
