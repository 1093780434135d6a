import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { Child } from './child.ts'
import type { LifeOptions } from './load-process.ts'

let folder: string
let options: LifeOptions

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'))
  const files = { store: join(folder, 'store.db'), ledger: join(folder, 'ledger') }
  options = { ...files, seed: 1, life: 'life1', does: 'load', threads: ['t'], seen: { t: 0 }, askings: [] }
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** A process that works on the store; resolves when it has acknowledged something. */
async function startLoad(): Promise<Child> {
  const { promise, resolve } = Promise.withResolvers<Child>()
  const child = new Child('./load-process.ts', options, (entry) => {
    if (entry.kind === 'accepted') resolve(child)
  })
  // One that ends before has complained.
  return Promise.race([promise, child.ended().then(({ complaint }) => Promise.reject(new Error(complaint)))])
}

describe('a SQLite store that a process works on', () => {
  it('is refused to a second process while the first lives, and open to it as soon as that is killed', async () => {
    const first = await startLoad()
    try {
      const second = createRuntime({ store: `sqlite:${options.store}` })
      await expect(second.opened()).rejects.toMatchObject({ code: 'store_locked' })
      await expect(second.run({ thread: 't', agent: 'mixed', prompt: '' })).rejects.toMatchObject({
        code: 'store_locked',
      })
    } finally {
      first.kill()
      await first.ended()
    }
    const next = createRuntime({ store: `sqlite:${options.store}` })
    await next.opened()
    expect((await next.thread('t')).head).toBeGreaterThan(0)
    await next.close()
  })

  it('stays refused while the process that holds it is frozen', async () => {
    const first = await startLoad()
    try {
      first.freeze()
      const second = createRuntime({ store: `sqlite:${options.store}` })
      await expect(second.opened()).rejects.toMatchObject({ code: 'store_locked' })
    } finally {
      first.kill()
      await first.ended()
    }
  })
})
