import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/chaos/history/entry.ts'
import { Recorder } from '../../src/chaos/history/recorder.ts'
import { commonLines } from '../../src/chaos/load/load-shape.ts'
import type { Fault } from '../../src/chaos/nodes/deployment.ts'
import { OwnNode } from '../../src/chaos/nodes/own-node.ts'
import { StoreTroubles } from '../../src/chaos/nodes/store-troubles.ts'
import { SeededRandom } from '../../src/chaos/seeded-random.ts'
import { timeoutMs } from './held.ts'

let folder: string
let recorder: Recorder

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-own-node-'))
  recorder = new Recorder(join(folder, 'history.ndjson'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** A node whose first process finds no store, and whose second one does. */
function lateNode(troubles?: StoreTroubles): OwnNode {
  const stores = ['none:', `sqlite:${join(folder, 'holdfast.db')}`]
  const env = () => ({ HOLDFAST_STORE: stores.shift() ?? '', XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder })
  const random = new SeededRandom(1)
  return new OwnNode({ name: 'node0', recorder, random, lines: commonLines, env, ...(troubles && { troubles }) })
}

async function written(): Promise<HistoryEntry[]> {
  await recorder.close()
  const lines = (await readFile(join(folder, 'history.ndjson'), 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as HistoryEntry)
}

describe('a node of the program’s own', { timeout: timeoutMs }, () => {
  it('writes down that it did not start, and starts again', async () => {
    const node = lateNode()
    await node.start()
    expect(node.isUp).toBe(true)
    await node.close()
    expect(await written()).toEqual([
      { kind: 'broken', what: expect.stringMatching(/^node0 did not start and ended with 1: .*none:/s) },
    ])
  })

  it('writes nothing down when something was done to its store meanwhile', async () => {
    const troubles = new StoreTroubles()
    const over = Promise.withResolvers<void>()
    const fault: Fault = { kind: 'stall', to: 'store', weight: 1, inject: () => over.promise }
    const stalled = troubles.watched(fault).inject(new SeededRandom(1))
    const node = lateNode(troubles)
    await node.start()
    over.resolve()
    await stalled
    await node.close()
    expect(await written()).toEqual([])
  })
})
