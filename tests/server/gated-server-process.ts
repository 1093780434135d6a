// A server whose commits and agents wait for the test that started it. The test talks to it over the channel of the
// process: `hold` keeps the next commits with that operation back, `release` lets them pass, `finish` ends the run of
// a prompt. It is told `reached` when a commit waits, and `atWork` when a run waits.

import { createRuntime, echoAgent, scriptAgent, serve } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { faultyStore } from '../../src/testing/faulty-store.ts'
import { heldAgent } from '../scenarios/held-agent.ts'
import type { Order, Report } from './harness/gated-server.ts'

const { HOLDFAST_STORE = 'memory:', HOLDFAST_TOKENS = '', HOLDFAST_CONCURRENCY = '256' } = process.env

let held: { readonly operation: string; readonly gate: PromiseWithResolvers<void> } | undefined

function tell(report: Report): void {
  process.send?.(report)
}

function gatedStore(inner: Store): Store {
  const store = faultyStore(inner)
  return {
    ...store,
    commit: async (units) => {
      const isHeld = units.some(({ operation }) => operation === held?.operation)
      if (isHeld && held) {
        tell({ is: 'reached', operation: held.operation })
        await held.gate.promise
      }
      return store.commit(units)
    },
  }
}

function openStore(): Store {
  if (HOLDFAST_STORE === 'memory:') return memoryStore()
  return sqliteStore({ path: HOLDFAST_STORE.replace(/^sqlite:/, '') })
}

const agent = heldAgent()
const runtime = createRuntime({
  store: gatedStore(openStore()),
  agents: {
    held: { run: agent.run.bind(agent) },
    echo: echoAgent(),
    script: scriptAgent({ allowEffects: true }),
  },
  concurrency: Number(HOLDFAST_CONCURRENCY),
})

process.on('message', (order: Order) => {
  if (order.do === 'hold') held = { operation: order.operation, gate: Promise.withResolvers() }
  if (order.do === 'finish') agent.release(order.prompt)
  if (order.do === 'follow') void agent.started(order.prompt).then(() => tell({ is: 'atWork', prompt: order.prompt }))
  if (order.do === 'release') {
    held?.gate.resolve()
    held = undefined
  }
})

const tokens = Object.fromEntries(HOLDFAST_TOKENS.split(',').map((entry) => entry.split('=') as [string, string]))
const { url } = await serve(runtime, { port: 0, tokens })
process.stdout.write(`holdfast listening on ${url}\n`)
