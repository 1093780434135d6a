import { execFileSync } from 'node:child_process'
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import { countsOf, violationsOf } from './cycles.ts'
import { Lives } from './lives.ts'
import { Mounts } from './mounts.ts'

const imageBytes = 64 * 1024 * 1024
const controlRows = 100

let folder: string
const mounts = new Mounts()
const file = (...names: string[]) => join(folder, ...names)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'))
})

afterEach(async () => {
  mounts.unmountAll()
  await rm(folder, { recursive: true, force: true })
})

function mountImage({ skip }: TestContext): void {
  try {
    writeFileSync(file('image'), '')
    truncateSync(file('image'), imageBytes)
    execFileSync('mkfs.ext4', ['-q', file('image')], { stdio: 'pipe' })
    mounts.image(file('disk'), file('image'))
  } catch (error) {
    skip(`a file system in a file cannot be mounted here: ${String(error)}`)
  }
}

/** A database that does not sync its commits. What it says it wrote is in memory only, and lost with the power. */
function openControl(): DatabaseSync {
  const database = new DatabaseSync(file('disk', 'control.db'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (n)')
  database.exec('PRAGMA synchronous = NORMAL')
  return database
}

function fillControl(control: DatabaseSync): void {
  const insert = control.prepare('INSERT INTO rows VALUES (?)')
  for (let n = 0; n < controlRows; n++) insert.run(n)
}

function controlRowsIn(disk: string): number {
  const database = new DatabaseSync(file(disk, 'control.db'))
  const row = database.prepare('SELECT count(*) AS count FROM rows').get() as { count: number }
  database.close()
  return row.count
}

describe('sqlite', () => {
  it('nothing acknowledged is lost when the power is cut, where a store that does not sync loses', async (context) => {
    mountImage(context)
    const control = openControl()
    const lives = await Lives.begin(1, file('disk', 'store.db'))
    try {
      await lives.load((_entry, count, child) => {
        if (count < 150) return false
        // From here on nothing is written, so the image is what the disk would have kept.
        child.freeze()
        fillControl(control)
        copyFileSync(file('image'), file('kept'))
        return true
      })
      expect(controlRowsIn('disk')).toBe(controlRows)
      mounts.image(file('kept-disk'), file('kept'))
      expect(controlRowsIn('kept-disk')).toBe(0)
      lives.moveTo(file('kept-disk', 'store.db'))
      const found = await lives.finish()
      expect(violationsOf(found)).toEqual([])
      expect(countsOf(found).acknowledged).toBeGreaterThan(150)
    } finally {
      control.close()
      await lives.end()
    }
  })
})
