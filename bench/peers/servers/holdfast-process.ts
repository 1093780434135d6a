// Holdfast with its own server. Given: the URL of the store.

import { type AgentContext, createRuntime, serve } from '../../../src/index.ts'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

async function work(ctx: AgentContext, asked: Work): Promise<void> {
  if (asked.kind === 'park') {
    noteWaiting()
    await ctx.receive()
  } else if (asked.kind === 'hang') {
    noteWaiting()
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
  } else {
    await produce(asked, ({ name, payload }) => ctx.emit(name, payload))
    noteEnded()
  }
}

const [store = 'memory:'] = process.argv.slice(2)
const runtime = createRuntime({ store, agents: { work }, limits: { openTasksPerPrincipal: 1_000_000 } })
await runtime.opened()
const server = await serve(runtime, { port: 0, tokens: { owner: 'bench' }, handlesSignals: false })
answerDriver(server.url)
