import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Event, Runtime } from '../../src/index.ts'
import { isTerminal } from '../../src/index.ts'
import { type HeldAgent, heldAgent } from './held-agent.ts'
import { echo, keptOf } from './pruned.ts'
import { foldAll, placeless } from './thread-laws.ts'
import { createWorld, type StoreKind, type World } from './world.ts'

const thread = 't'

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('run' as const), isHeld: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('spawn' as const), isHeld: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('release', 'send', 'say', 'collect'), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('prune' as const),
      kept: fc.record(
        { eventsMs: fc.integer({ min: 1, max: 2_000 }), eventsPerThread: fc.integer({ min: 1, max: 12 }) },
        { requiredKeys: ['eventsPerThread'] },
      ),
    }),
  },
)

type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never

/** What happens to one thread, and a reader that has seen all of it. */
class Play {
  readonly #here: World
  readonly #held: HeldAgent = heldAgent()
  readonly #seen: Event[] = []
  readonly #prompts = new Map<string, string>()
  #runtime: Runtime | undefined
  #first = 1

  constructor(here: World) {
    this.#here = here
  }

  async begin(): Promise<void> {
    this.#runtime = await this.#here.open({ agents: { echo, held: this.#held } })
    void this.#watch(this.#runtime)
  }

  async take(each: Action): Promise<void> {
    await this.#perform(each)
    await this.#here.quiet()
    await this.#check()
  }

  get #opened(): Runtime {
    if (!this.#runtime) throw new Error('Begin first')
    return this.#runtime
  }

  async #perform(each: Action): Promise<unknown> {
    const runtime = this.#opened
    if (each.do === 'pass') return this.#here.clock.advance(each.ms)
    if (each.do === 'prune') return runtime.prune(each.kept)
    if (each.do === 'run' || each.do === 'spawn') return this.#accept(each.do, each.isHeld)
    const picked = [...this.#prompts][each.pick % Math.max(1, this.#prompts.size)]
    if (!picked) return undefined
    const [id, prompt] = picked
    if (each.do === 'release') return this.#held.release(prompt)
    if (each.do === 'say') return this.#held.begun.includes(prompt) && (await this.#held.started(prompt)).say(prompt)
    if (each.do === 'send') return runtime.send(id, { content: prompt })
    return each.do === 'cancel' ? runtime.cancel(id) : runtime.collect(thread, [id])
  }

  async #accept(how: 'run' | 'spawn', isHeld: boolean): Promise<void> {
    const prompt = `p${this.#prompts.size}`
    const { id } = await this.#opened[how]({ thread, agent: isHeld ? 'held' : 'echo', prompt })
    this.#prompts.set(id, prompt)
  }

  async #watch(runtime: Runtime): Promise<void> {
    for await (const event of runtime.subscribe({ thread })) this.#seen.push(event)
  }

  /** R1 no hole and no step back, R2 nothing protected is passed, R3 messages, tasks and results are as they were. */
  async #check(): Promise<void> {
    const runtime = this.#opened
    const { first, head } = await keptOf(runtime, thread)
    expect(this.#seen.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, n) => n + 1))
    expect(first).toBeGreaterThanOrEqual(this.#first)
    expect(first).toBeLessThanOrEqual(Math.max(1, head))
    this.#first = first
    const tasks = foldAll(this.#seen)
    const untaken = new Set((await runtime.results(thread)).results.map(({ task }) => task))
    for (const task of tasks) {
      const begins = this.#seen.find((event) => event.task === task.id)?.seq ?? 0
      if (!isTerminal(task.status) || untaken.has(task.id)) expect(first).toBeLessThanOrEqual(begins)
      const read = await runtime.get(task.id)
      expect(read && placeless(read)).toEqual(task)
    }
    const said = this.#seen.flatMap((event) => (event.type === 'message.created' ? [event.data.message] : []))
    expect(await runtime.messages(thread, { limit: 1000 })).toEqual(said)
  }
}

function plays(kind: StoreKind, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 25 }), async (actions) => {
    const here = createWorld(kind)
    try {
      const play = new Play(here)
      await play.begin()
      for (const each of actions) await play.take(each)
    } finally {
      await here.end()
    }
  })
  return fc.assert(property, { numRuns })
}

it(
  'whatever is pruned when, the log has no hole and nothing that is needed is gone (memory)',
  () => plays('memory', 60),
  60_000,
)

it(
  'whatever is pruned when, the log has no hole and nothing that is needed is gone (sqlite)',
  () => plays('sqlite', 12),
  60_000,
)
