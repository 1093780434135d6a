import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUp, inspectStore, sqliteStore } from '../../../src/stores/sqlite/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import {
  commit,
  deltas,
  event,
  headOf,
  logOf,
  numbersOf,
  unit,
  upTo,
} from '../../../src/testing/store-suite/builders.ts'

let folder: string
let path: string
let target: string
const opened: Store[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-backup-'))
  path = join(folder, 'store.db')
  target = join(folder, 'copies', 'copy.db')
  mkdirSync(join(folder, 'copies'))
})

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function open(at = path): Promise<Store> {
  const store = sqliteStore({ path: at })
  opened.push(store)
  await store.open()
  return store
}

/** A store with a log of so many events, one commit each. */
async function filled(count: number, text = ''): Promise<Store> {
  const store = await open()
  for (let n = 0; n < count; n += 1) {
    await commit(
      store,
      unit({
        rev: n,
        events: text === '' ? deltas(1) : [event('text.delta', undefined, { data: JSON.stringify({ text }) })],
      }),
    )
  }
  return store
}

/** Leaves the store as a killed process does: with a hundred events that are in its log alone. */
async function workAndDie(rev: number): Promise<void> {
  const script = new URL('./store-process.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script, path, 'hold', String(rev)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  expect(said.toString()).toBe('committed\n')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
}

describe('a back-up of a SQLite store', () => {
  it('holds what was committed before it began, and never begins again, while the store goes on', async () => {
    const store = await filled(100, 'x'.repeat(200_000))
    let rev = 100
    let isDone = false
    const shares: number[] = []
    const copying = backUp({ path, target, onProgress: (share) => shares.push(share) }).finally(() => {
      isDone = true
    })
    while (!isDone && rev < 1_000) {
      await commit(store, unit({ rev, events: deltas(1) }))
      rev += 1
    }
    await copying
    expect(shares.length).toBeGreaterThan(2)
    expect(shares).toEqual(shares.toSorted((one, other) => one - other))
    const copied = await open(target)
    const head = await headOf(copied)
    expect(head).toBeGreaterThanOrEqual(100)
    expect(numbersOf(await logOf(copied))).toEqual(upTo(head))
    expect(await headOf(store)).toBe(rev)
  })

  it('is one file for its owner alone, and says how large it is', async () => {
    await filled(3)
    const { bytes, target: written } = await backUp({ path, target })
    expect(written).toBe(target)
    expect(readdirSync(join(folder, 'copies'))).toEqual(['copy.db'])
    expect(statSync(target).mode & 0o777).toBe(0o600)
    expect(statSync(target).size).toBe(bytes)
  })

  it('never replaces a file unless it is told to', async () => {
    await filled(1)
    writeFileSync(target, 'precious')
    await expect(backUp({ path, target })).rejects.toMatchObject({ code: 'name_taken' })
    expect(readFileSync(target, 'utf8')).toBe('precious')
    await backUp({ path, target, force: true })
    expect(inspectStore(target)).toMatchObject({ isCopy: true, damage: [] })
    expect(readdirSync(join(folder, 'copies'))).toEqual(['copy.db'])
  })

  it('replaces nothing that is no plain file, whatever it is told', async () => {
    await filled(1)
    mkdirSync(target)
    symlinkSync(path, join(folder, 'copies', 'link.db'))
    execFileSync('mkfifo', [join(folder, 'copies', 'pipe.db')])
    for (const name of ['copy.db', 'link.db', 'pipe.db']) {
      const unfit = join(folder, 'copies', name)
      const refused = { code: 'invalid_request', message: expect.stringContaining('no plain file') as string }
      await expect(backUp({ path, target: unfit, force: true })).rejects.toMatchObject(refused)
    }
    expect(readdirSync(join(folder, 'copies'))).toEqual(['copy.db', 'link.db', 'pipe.db'])
    expect(lstatSync(join(folder, 'copies', 'pipe.db')).isFIFO()).toBe(true)
  })

  it.each(['', '-wal', '-shm', '-lock'])('never writes to the store itself (%s)', async (suffix) => {
    await filled(1)
    symlinkSync(folder, join(folder, 'here'))
    const own = join(folder, 'here', `store.db${suffix}`)
    await expect(backUp({ path, target: own, force: true })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('leaves nothing behind when it is stopped', async () => {
    await filled(400)
    const controller = new AbortController()
    controller.abort(new Error('enough'))
    await expect(backUp({ path, target, signal: controller.signal })).rejects.toThrow('enough')
    expect(readdirSync(join(folder, 'copies'))).toEqual([])
  })

  it('refuses what is no store, and makes none', async () => {
    await expect(backUp({ path, target })).rejects.toMatchObject({ code: 'store_schema' })
    expect(existsSync(path)).toBe(false)
    writeFileSync(
      path,
      'text that is no database, and long enough to be read as the header of one, which has 100 bytes',
    )
    await expect(backUp({ path, target })).rejects.toMatchObject({ code: 'store_schema' })
    rmSync(path)
    new DatabaseSync(path).exec('CREATE TABLE other (n INTEGER)')
    await expect(backUp({ path, target })).rejects.toThrow("another program's")
    expect(readdirSync(join(folder, 'copies'))).toEqual([])
  })

  it('does not pass on damage', async () => {
    await (await filled(400)).close()
    const bytes = readFileSync(path)
    bytes.fill(0xff, 3 * 8_192, 6 * 8_192)
    writeFileSync(path, bytes)
    await expect(backUp({ path, target })).rejects.toMatchObject({ code: 'store_failed' })
    expect(readdirSync(join(folder, 'copies'))).toEqual([])
    expect(inspectStore(path).damage.length).toBeGreaterThan(0)
  })
})

describe('a copy in the place of a store', () => {
  it('is opened without the log of the store that was there', async () => {
    await filled(5)
    await backUp({ path, target })
    await opened.pop()?.close()
    await workAndDie(5)
    copyFileSync(target, path)
    const restored = await open()
    expect(await headOf(restored)).toBe(5)
    expect(numbersOf(await logOf(restored))).toEqual(upTo(5))
  })

  it('keeps its own log from its first opening on', async () => {
    await filled(5)
    await backUp({ path, target })
    await opened.pop()?.close()
    copyFileSync(target, path)
    await workAndDie(5)
    const again = await open()
    expect(await headOf(again)).toBe(105)
  })

  it('can be looked at beside a log that is not its own, and is no source of another', async () => {
    await filled(5)
    await backUp({ path, target })
    await opened.pop()?.close()
    await workAndDie(5)
    copyFileSync(target, path)
    expect(inspectStore(path)).toMatchObject({ isCopy: true, isHeld: false, damage: [] })
    await expect(backUp({ path, target, force: true })).rejects.toThrow('Copy it as it is')
  })
})

describe('a look at a SQLite store', () => {
  it('tells its schema, its size and whether somebody has it open, and changes nothing', async () => {
    const store = await filled(2)
    const held = inspectStore(path)
    expect(held).toMatchObject({ isHeld: true, isCopy: false, damage: [], othersMode: 0 })
    expect(held.schema.missing).toEqual([])
    expect(held.newestAt).toBeTypeOf('number')
    await opened.pop()?.close()
    const files = readdirSync(folder)
    expect(inspectStore(path)).toMatchObject({ isHeld: false, logBytes: 0 })
    expect(readdirSync(folder)).toEqual(files)
    expect(store.kind).toBe('sqlite')
  })

  it('never keeps a store from being opened, however often others look', async () => {
    await (await filled(1)).close()
    opened.pop()
    const look = `const { DatabaseSync } = require('node:sqlite')
      console.log('looking')
      for (;;) {
        const lock = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 0 })
        try {
          lock.exec('BEGIN')
          lock.prepare('SELECT count(*) FROM sqlite_schema').get()
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
        } catch {}
        lock.close()
      }`
    const child = spawn(process.execPath, ['-e', look, `${path}-lock`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    try {
      for (let n = 0; n < 8; n += 1) {
        await open()
        expect(inspectStore(path).isHeld).toBe(true)
        await opened.pop()?.close()
      }
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  it('tells what others may do with its files', async () => {
    await filled(1)
    chmodSync(path, 0o644)
    expect(inspectStore(path).othersMode).toBe(0o044)
  })
})
