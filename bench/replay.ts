// How fast is a log read again? Run with `node bench/replay.ts`.
//
// A thread of 100,000 events of 300 bytes, written by an agent, is read from its beginning through `subscribe`, one event
// after the other, against a bare SELECT of the same rows with a split and a JSON.parse of each event. Not measured: a
// file that is not in memory, the encoding for a client, several readers at once.

import { DatabaseSync } from 'node:sqlite'
import { type AgentContext, createRuntime, type Runtime } from '../src/index.ts'
import { perSecond, report } from './figures.ts'
import { compare, timed } from './rounds.ts'
import { payload, withPath } from './sqlite-load.ts'

const eventCount = 100_000
const thread = 'thread'

async function emitter(ctx: AgentContext): Promise<void> {
  for (let i = 0; i < eventCount; i++) await ctx.emit(payload.name, payload.payload)
}

async function replay(runtime: Runtime, head: number): Promise<void> {
  let count = 0
  for await (const event of runtime.subscribe({ thread })) {
    count += 1
    if (event.seq === head) break
  }
  if (count !== head) throw new Error(`${count} of ${head} events were read`)
}

function bareReplay(path: string, head: number): void {
  const database = new DatabaseSync(path, { readOnly: true })
  let count = 0
  for (const row of database.prepare('SELECT body FROM chunks ORDER BY thread, first').iterate()) {
    for (const line of String(row['body']).split('\n')) {
      JSON.parse(line.slice(line.lastIndexOf('\t') + 1))
      count += 1
    }
  }
  database.close()
  if (count !== head) throw new Error(`${count} of ${head} events were read`)
}

await withPath(async (path) => {
  const runtime = createRuntime({ store: `sqlite:${path}`, agents: { emitter } })
  const { id } = await runtime.run({ thread, agent: 'emitter', prompt: 'go' })
  await runtime.wait(id)
  const { head } = await runtime.thread(thread)
  const { ratio, oursMs, baselineMs } = await compare(
    9,
    () => timed(() => bareReplay(path, head)),
    () => timed(() => replay(runtime, head)),
  )
  await runtime.close()
  report({
    what: `replay of ${eventCount.toLocaleString('en')} events`,
    value: ratio,
    unit: '×',
    atLeast: 0.5,
    of: `${perSecond(head, oursMs)} against ${perSecond(head, baselineMs)} bare`,
  })
})
