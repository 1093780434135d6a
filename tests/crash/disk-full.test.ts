import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../scenarios/world.ts'
import { countedStore } from './counted-store.ts'
import { countsOf, violationsOf } from './cycles.ts'
import { entriesOf } from './history.ts'
import { Lives } from './lives.ts'
import { Mounts } from './mounts.ts'

const sizeMib = 48
// The first is the request itself; the others are the runtime's own, to find out whether the store is back.
const asksMin = 4

let folder: string
let disk: string
const mounts = new Mounts()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'))
  disk = join(folder, 'disk')
})

afterEach(async () => {
  mounts.unmountAll()
  await rm(folder, { recursive: true, force: true })
})

function mountSmallDisk({ skip }: TestContext): void {
  try {
    mounts.memory(disk, sizeMib)
  } catch (error) {
    skip(`a small disk cannot be mounted here: ${String(error)}`)
  }
}

/** Leaves no byte on the disk. */
function fillDisk(): void {
  const descriptor = openSync(join(disk, 'filler'), 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) writeWhileThereIsRoom(descriptor, size)
  } finally {
    closeSync(descriptor)
  }
}

function writeWhileThereIsRoom(descriptor: number, size: number): void {
  const bytes = Buffer.alloc(size)
  try {
    while (writeSync(descriptor, bytes) === size);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

function freeDisk(): void {
  rmSync(join(disk, 'filler'))
}

describe('sqlite', () => {
  it('a disk that fills up under load refuses what is asked, and all goes on when there is room', async (context) => {
    mountSmallDisk(context)
    const lives = await Lives.begin(1, join(disk, 'store.db'))
    try {
      let isFilled = false
      let freedAt = Number.POSITIVE_INFINITY
      await lives.load((entry, count) => {
        if (!isFilled && count >= 50) {
          fillDisk()
          isFilled = true
        }
        const isRefused = entry.kind === 'refused' && entry.code === 'store_unavailable' && entry.isReady === false
        if (isRefused && freedAt > count) {
          freeDisk()
          freedAt = count
        }
        return count >= freedAt + 50
      })
      const found = await lives.finish()
      expect(violationsOf(found)).toEqual([])
      expect(countsOf(found).acknowledged).toBeGreaterThan(100)
      expect(entriesOf(found, 'refused').some(({ code }) => code === 'store_unavailable')).toBe(true)
    } finally {
      await lives.end()
    }
  })

  it('a runtime with nothing to write is not ready while the disk is full, and is when there is room', async (context) => {
    mountSmallDisk(context)
    const asked = gate()
    const back = gate()
    let askCount = 0
    const store = countedStore(sqliteStore({ path: join(disk, 'store.db') }), ({ method, when }) => {
      if (method === 'commit' && when === 'before' && ++askCount === asksMin) asked.open()
    })
    const log = { ...silentLogger, info: (_facts: object, message: string) => message.includes('back') && back.open() }
    const runtime = createRuntime({ store, agents: { quick: () => 'done' }, log })
    const task = await runtime.spawn({ thread: 't', agent: 'quick' })
    await runtime.wait(task.id)
    fillDisk()
    askCount = 0
    await expect(runtime.collect('t', [task.id])).rejects.toMatchObject({ code: 'store_unavailable' })
    await Promise.race([asked.opened, back.opened])
    expect(await runtime.isReady()).toBe(false)
    freeDisk()
    await back.opened
    expect(await runtime.isReady()).toBe(true)
    expect(await runtime.collect('t', [task.id])).toEqual([task.id])
    await runtime.close()
  })
})
