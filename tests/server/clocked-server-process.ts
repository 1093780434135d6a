// A server whose streams live by a clock that the test moves, and that tells what memory it uses. The test talks to it
// over the channel of the process.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRuntime, echoAgent, scriptAgent, serve } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import type { ClockedOrder, ClockedReport } from './harness/clocked-server.ts'

const { HOLDFAST_STORE = 'memory:', HOLDFAST_TOKENS = '' } = process.env

const clock = manualClock()
const runtime = createRuntime({ store: HOLDFAST_STORE, agents: { echo: echoAgent(), script: scriptAgent() } })

async function obey(order: ClockedOrder): Promise<ClockedReport> {
  if (order.do === 'advance') await clock.advance(order.ms)
  if (order.do === 'measure') await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return { usedBytes: heapUsed + external }
}

/** What is beside the heap is only let go some turns after what held it. */
async function collectGarbage(): Promise<void> {
  for (let times = 0; times < 5; times += 1) {
    global.gc?.()
    await nextTurn()
  }
}

process.on('message', (order: ClockedOrder) => {
  void obey(order).then((report) => process.send?.(report))
})

const tokens = Object.fromEntries(HOLDFAST_TOKENS.split(',').map((entry) => entry.split('=') as [string, string]))
const { url } = await serve(runtime, { port: 0, tokens, clock })
process.stdout.write(`holdfast listening on ${url}\n`)
