import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPlan, torment } from '../../../src/chaos/faults/nemesis.ts'
import { Recorder } from '../../../src/chaos/history/recorder.ts'
import type { Deployment, Fault } from '../../../src/chaos/nodes/deployment.ts'
import { SeededRandom } from '../../../src/chaos/seeded-random.ts'

let folder: string
let recorder: Recorder

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-nemesis-'))
  recorder = new Recorder(join(folder, 'history.ndjson'))
})

afterEach(async () => {
  await recorder.close()
  await rm(folder, { recursive: true, force: true })
})

/** A deployment to which one thing can be done, and that is left alone for no time. */
function deploymentOf(inject: Fault['inject']): Deployment {
  return {
    nodes: [],
    tokens: {},
    leaseMs: 1,
    restMsMax: 0,
    mayPrune: false,
    faults: [{ kind: 'kill', to: 'node', weight: 1, inject }],
    start: () => Promise.resolve(),
    heal: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

function tormented(plan: Readonly<Record<string, number>>, inject: Fault['inject']): Promise<void> {
  const deployment = deploymentOf(inject)
  return torment({ deployment, recorder, random: new SeededRandom(1), plan, goesOn: () => false, isOn: () => true })
}

const told = () => recorder.write({ kind: 'fault', fault: 'kill', node: 'node0', at: 0 })

describe('the nemesis', () => {
  it('refuses a plan with a fault that it does not know', () => {
    const { faults } = deploymentOf(() => Promise.resolve())
    expect(() => checkPlan({ kill: 1, kil: 3 }, faults)).toThrow('There is no fault kil here: use kill')
    expect(() => checkPlan({ kill: 1 }, faults)).not.toThrow()
  })

  it('plans again what could not be injected', async () => {
    let attempts = 0
    await tormented({ kill: 2 }, () => {
      attempts += 1
      // Nobody was up to be killed.
      if (attempts > 1) told()
      return Promise.resolve()
    })
    expect(attempts).toBe(3)
    expect(recorder.tally.faults).toEqual({ kill: 2 })
  })
})
