import { jsonSchema, ToolLoopAgent, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { aiSdkAgent, toolCall } from '../../src/ai-sdk/index.ts'
import { SeededRandom } from '../../src/chaos/seeded-random.ts'
import type { Part } from '../../src/core/message.ts'
import type { Agents } from '../../src/runtime/agent.ts'
import type { ModelServer } from '../model-server/model-server.ts'
import { type ModelRequest, stepsSoFar, turns } from '../model-server/script.ts'
import { crashTestMs } from '../scenarios/crash-everywhere.ts'
import { createWorld, type StoreKind, type World } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const place = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } })

const script = turns(
  {
    text: ['Let ', 'me ', 'see. '],
    calls: [
      { name: 'weather', input: { city: 'Oslo' } },
      { name: 'weather', input: { city: 'Rome' } },
    ],
  },
  { text: ['And ', 'trains? '], calls: [{ name: 'trains', input: { city: 'Rome' } }] },
  { calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
  { text: ['Go ', 'to ', 'Rome', '.'] },
)

/** Which calls were made, of models and tools, in all lives together. */
class Counts {
  readonly tools: string[] = []
  readonly #server: ModelServer

  constructor(server: ModelServer) {
    this.#server = server
  }

  get models(): readonly ModelRequest[] {
    return this.#server.requests
  }

  /** How often each recorded step was executed, by its key. */
  ofRecorded(here: World): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { key } of here.committed.flatMap((unit) => unit.steps ?? [])) {
      const at = /^model(?:#(\d+))?$/.exec(key)
      if (at) counts.set(key, this.models.filter((request) => stepsSoFar(request) === Number(at[1] ?? 1) - 1).length)
      if (/^(weather|trains)(#\d+)?$/.test(key))
        counts.set(key, this.tools.filter((called) => called.endsWith(`:${key}`)).length)
    }
    return counts
  }
}

function agents(server: ModelServer, counts: Counts): Agents {
  const answer = (name: string) =>
    tool({
      inputSchema: place,
      execute: ({ city }) => {
        counts.tools.push(toolCall()?.key ?? 'none')
        return { [name]: `good in ${city}` }
      },
    })
  const tools = { weather: answer('weather'), trains: answer('trains') }
  const helper = new ToolLoopAgent({ model: modelOf(server, 'responses'), tools })
  return { helper: aiSdkAgent(helper, { afterCrash: 'retry' }) }
}

interface Told {
  readonly said: string
  /** In the order of their keys: of tools that run side by side, one that is called again comes later. */
  readonly tools: readonly string[]
  readonly crashCount: number
}

/** Runs the agent to its end through crashes at the given commits of each process. */
async function tell(kind: StoreKind, crashes: readonly number[], random: SeededRandom): Promise<Told> {
  const server = await modelServer(script)
  const counts = new Counts(server)
  const here = createWorld(kind)
  try {
    for (let life = 0; ; life += 1) {
      const before = counts.ofRecorded(here)
      const fault = random.chance(0.5) ? 'crash_before' : 'crash_after'
      const runtime = await here.open({ agents: agents(server, counts) }, (_units, number) =>
        number === crashes[life] ? fault : 'none',
      )
      const ended = runtime
        .run({ thread: 't', agent: 'helper', prompt: 'Where to?', idempotencyKey: 'go' })
        .then(({ id }) => runtime.wait(id))
      const task = await Promise.race([ended, here.store.crashed.then(() => 'crashed' as const)])
      const after = counts.ofRecorded(here)
      for (const [key, count] of before) expect(after.get(key), `${key} was recorded and is executed again`).toBe(count)
      if (task === 'crashed') {
        await here.crash()
        continue
      }
      expect(task).toMatchObject({ status: 'completed', result: 'Go to Rome.', usage: { modelCalls: 4 } })
      const { messages } = await runtime.thread('t')
      return { ...toldBy(messages.at(-1)?.parts ?? []), crashCount: life }
    }
  } finally {
    await here.end()
  }
}

function toldBy(parts: readonly Part[]): Omit<Told, 'crashCount'> {
  const said = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const tools = parts.flatMap((part) => (part.type === 'tool' ? [JSON.stringify(part).replace(/bg_\d+/, '')] : []))
  return { said, tools: tools.toSorted() }
}

const crashCountMin = 50

describe.each(['memory', 'sqlite'] as const)('%s', (kind) => {
  it(
    'REST-13 over 50 seeded crashes no recorded call is made twice, and the answer has no gap and no repeat',
    async () => {
      const { crashCount: _none, ...calm } = await tell(kind, [], new SeededRandom(0))
      let crashCount = 0
      for (let seed = 1; crashCount < crashCountMin; seed += 1) {
        const random = new SeededRandom(seed)
        const crashes = [1 + random.below(16), 1 + random.below(10)]
        const { crashCount: count, ...told } = await tell(kind, crashes, random)
        expect(told, `seed ${seed}`).toEqual(calm)
        crashCount += count
      }
    },
    crashTestMs,
  )
})
