import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { sqliteStoreWith } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import {
  accepting,
  asking,
  commit,
  deltas,
  headOf,
  logOf,
  numbersOf,
  question,
  running,
  unit,
  upTo,
} from '../../../src/testing/store-suite/builders.ts'
import { TurnsRule } from './turns-rule.ts'

let folder: string
let path: string
const opened: Store[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
})

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function open(options: Partial<Parameters<typeof sqliteStore>[0]> = {}): Promise<Store> {
  const store = sqliteStore({ path, ...options })
  opened.push(store)
  await store.open()
  return store
}

/** A store with three events, closed again. */
async function leaveStore(): Promise<void> {
  const store = await open()
  await commit(store, unit({ events: deltas(3) }))
  expect(await headOf(store)).toBe(3)
  await store.close()
}

/** A file as it would be found if its process were killed now. */
function copyOf(file: string): string {
  const copy = `${file}.killed.db`
  for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`)
  return copy
}

function change(sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

function start(then: 'hold' | 'close' | 'leave', ids: { uid?: number; gid?: number } = {}): ChildProcess {
  const script = new URL('./store-process.ts', import.meta.url).pathname
  return spawn(process.execPath, [script, path, then], { stdio: ['pipe', 'pipe', 'inherit'], ...ids })
}

async function said(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  return chunk.toString().trim()
}

describe('the lock of a SQLite store', () => {
  it('refuses a second store on the file at once', async () => {
    await open()
    const locked = { code: 'store_locked', message: expect.stringContaining('Stop that'), facts: { path } }
    await expect(open()).rejects.toMatchObject(locked)
  })

  it('refuses a second store that reaches the file by another name', async () => {
    await open()
    symlinkSync(path, join(folder, 'link.db'))
    await expect(open({ path: join(folder, 'link.db') })).rejects.toMatchObject({ code: 'store_locked' })
  })

  it('refuses a file that has another name by a hard link, because each name would have a lock of its own', async () => {
    await leaveStore()
    linkSync(path, join(folder, 'link.db'))
    const refusal = { code: 'store_unavailable', message: expect.stringContaining('hard link') }
    await expect(open()).rejects.toMatchObject(refusal)
    await expect(open({ path: join(folder, 'link.db') })).rejects.toMatchObject(refusal)
    rmSync(join(folder, 'link.db'))
    await expect(open()).resolves.toBeDefined()
  })

  it('leaves the first store at work when it refuses a second', async () => {
    const store = await open()
    await expect(open()).rejects.toMatchObject({ code: 'store_locked' })
    await expect(open()).rejects.toMatchObject({ code: 'store_locked' })
    await commit(store, unit({ events: deltas(2) }))
    expect(await headOf(store)).toBe(2)
  })

  it('is free after a close, which leaves the file whole and nothing else in use', async () => {
    await leaveStore()
    expect(readdirSync(folder)).toEqual(['store.db', 'store.db-lock'])
    await expect(open()).resolves.toBeDefined()
  })

  it('is held by a process until that is killed, whose commits stay', async () => {
    const child = start('hold')
    expect(await said(child)).toBe('committed')
    await expect(open()).rejects.toMatchObject({ code: 'store_locked' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = await open()
    const log = await logOf(store)
    expect(numbersOf(log)).toEqual(upTo(100))
    expect(log.map((event) => event.data)).toEqual(deltas(100).map((draft) => draft.data))
  })
})

describe('a SQLite store whose file another program writes to', () => {
  it.each(['quick', 'writer'] as const)(
    'fails the next batch instead of building on what is no more, and then goes on from what is (%s)',
    async (committer) => {
      const store = sqliteStoreWith({ path }, () => new TurnsRule([committer]))
      opened.push(store)
      await store.open()
      await commit(store, unit({ events: deltas(3), rev: 0 }))
      change('UPDATE threads SET rev = 7')
      await expect(store.commit([unit({ events: deltas(1) })])).rejects.toThrow('revision')
      expect(await headOf(store)).toBe(3)
      await commit(store, unit({ events: deltas(1), rev: 7 }))
      expect(numbersOf(await logOf(store))).toEqual(upTo(4))
    },
  )
})

describe('a process with a SQLite store', () => {
  it.each(['close', 'leave'] as const)('ends by itself after %s', async (then) => {
    const child = start(then)
    const [output, [code]] = await Promise.all([text(child.stdout ?? process.stdin), once(child, 'exit')])
    expect([output.trim(), code]).toEqual(['committed', 0])
  })
})

describe('the task numbers of a SQLite store', () => {
  it('go on where they were after a close', async () => {
    const store = await open()
    await store.allocate(5)
    await store.close()
    expect(await (await open()).allocate(1)).toBe(5)
  })

  it('go on after a crash behind the last that a commit followed', async () => {
    const store = await open()
    for (const n of upTo(3)) {
      await commit(store, accepting(running(`bg_${await store.allocate(1)}`), { rev: n - 1 }))
      const killed = await open({ path: copyOf(path) })
      expect(await killed.allocate(1)).toBe(n)
      await killed.close()
    }
  })
})

describe('the schema of a SQLite store', () => {
  it('is made with the file and its folder, for their owner alone', async () => {
    path = join(folder, 'a', 'b', 'store.db')
    await commit(await open(), unit({ events: deltas(1) }))
    const modes = [join(folder, 'a'), path, `${path}-wal`, `${path}-lock`].map((file) => statSync(file).mode & 0o777)
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
  })

  it('is refused where there is none and it may not be made, and nothing is made', async () => {
    const refusal = { code: 'store_schema', message: expect.stringContaining('Let it migrate') }
    await expect(open({ migrate: false })).rejects.toMatchObject(refusal)
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, '')
    await expect(open({ migrate: false })).rejects.toMatchObject(refusal)
    expect(statSync(path).size).toBe(0)
  })

  it('is accepted without migrating where it is there', async () => {
    await leaveStore()
    expect(await headOf(await open({ migrate: false }))).toBe(3)
  })

  it('of a newer major is refused, and the file stays as it was', async () => {
    await leaveStore()
    change('UPDATE holdfast_meta SET major = 2')
    const before = readFileSync(path)
    await expect(open()).rejects.toMatchObject({ code: 'store_schema', message: expect.stringContaining('Upgrade') })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('of an older minor gets what it lacks, and what is in the file stays', async () => {
    const first = new URL('../../../src/stores/sqlite/migrations/0001_initial.sql', import.meta.url)
    change(`${readFileSync(first, 'utf8')}; UPDATE holdfast_meta SET minor = 1, next_task = 7`)
    const store = await open()
    expect(await store.allocate(1)).toBe(7)
    await commit(store, accepting(running('bg_7')), asking(question('bg_7', 'q_1')))
    expect(await store.questions({ id: 'q_1' })).toMatchObject([{ text: 'Really?' }])
  })

  it('of a newer minor is accepted and stays as it is', async () => {
    await leaveStore()
    change('UPDATE holdfast_meta SET minor = 99; ALTER TABLE threads ADD COLUMN later TEXT; CREATE TABLE more (x)')
    const store = await open()
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(4)
    await store.close()
    const database = new DatabaseSync(path)
    expect(database.prepare('SELECT major, minor FROM holdfast_meta').get()).toEqual({ major: 1, minor: 99 })
    database.close()
  })

  it('is never made in the database of another program, which stays as it was', async () => {
    change('CREATE TABLE songs (title TEXT)')
    const before = readFileSync(path)
    const refusal = { code: 'store_schema', message: expect.stringContaining('another program') }
    await expect(open()).rejects.toMatchObject(refusal)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it.each([
    ['a text', 'These are notes.\n'.repeat(1000)],
    ['the head of a database and nothing that fits it', `SQLite format 3\0${'?'.repeat(20_000)}`],
  ])('is not sought in %s, which stays as it was', async (_, content) => {
    writeFileSync(path, content)
    await expect(open()).rejects.toMatchObject({ code: 'store_schema', message: expect.stringContaining('copy') })
    expect(readFileSync(path, 'utf8')).toBe(content)
  })
})

describe('a SQLite store that cannot have its file', () => {
  it.each([
    ['a folder', () => folder],
    ['a path below a file', () => join(folder, 'file', 'store.db')],
    ['a device', () => '/dev/null'],
  ])('says store_unavailable of %s', async (_, place) => {
    writeFileSync(join(folder, 'file'), '')
    await expect(open({ path: place() })).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it.each(['', ':memory:'])('says invalid_request of the path "%s"', async (name) => {
    await expect(open({ path: name })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('says store_unavailable of a file that it may not write to', async () => {
    await leaveStore()
    chmodSync(folder, 0o777)
    chmodSync(path, 0o444)
    rmSync(`${path}-lock`)
    // Nothing is read-only for root, so that the child is somebody else.
    const child = start('close', process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {})
    expect((await text(child.stdout ?? process.stdin)).trim()).toBe('opening: store_unavailable')
  })

  it('says store_unavailable when the disk is full, writes nothing, and goes on when there is room', async () => {
    const full = await open({ pageCountMax: 60 })
    await commit(full, unit({ events: deltas(3) }))
    const large = unit({ events: [{ type: 'custom', data: JSON.stringify('x'.repeat(1_000_000)) }] })
    const refusal = { code: 'store_unavailable', message: expect.stringContaining('Free some space') }
    await expect(full.commit([unit({ events: deltas(1) }), large])).rejects.toMatchObject(refusal)
    expect(await headOf(full)).toBe(3)
    await commit(full, unit({ events: deltas(1) }))
    await full.close()
    const store = await open()
    await commit(store, large)
    expect(numbersOf(await logOf(store))).toEqual(upTo(5))
  })

  it('says store_unavailable when the disk is too full for the schema', async () => {
    await expect(open({ pageCountMax: 5 })).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await headOf(await open())).toBe(0)
  })
})
