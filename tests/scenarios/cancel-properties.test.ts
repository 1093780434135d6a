import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import { type AgentContext, isHoldfastError } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { untilStopped } from './bodies.ts'
import { TreeLaws } from './tree-laws.ts'
import { createWorld, gate, type World } from './world.ts'

const graceMs = 5_000

type Body = 'obedient' | 'stubborn' | 'nesting'

type Move = { readonly turns: number } & (
  | { readonly kind: 'spawn'; readonly under: number | undefined; readonly isDetached: boolean; readonly body: Body }
  | { readonly kind: 'run'; readonly body: Body }
  | { readonly kind: 'task' | 'tree'; readonly on: number }
  | { readonly kind: 'return' | 'throw'; readonly on: number }
  | { readonly kind: 'runs' | 'all' }
)

interface Plan {
  readonly slots: number
  readonly moves: readonly Move[]
  /** How what is still there in the end is ended. */
  readonly finale: 'release' | 'grace'
}

const turns = fc.nat({ max: 4 })
const body = fc.constantFrom<Body>('obedient', 'stubborn', 'nesting')
const on = fc.nat({ max: 20 })

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('spawn' as const),
      under: fc.option(on, { nil: undefined }),
      isDetached: fc.boolean(),
      body,
      turns,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), body, turns }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('task', 'tree', 'return', 'throw'), on, turns }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('runs', 'all'), turns }) },
)

const plans: fc.Arbitrary<Plan> = fc.record({
  slots: fc.integer({ min: 1, max: 5 }),
  moves: fc.array(move, { minLength: 4, maxLength: 30 }),
  finale: fc.constantFrom('release', 'grace'),
})

/** What a cancel answered. Its reason marks it in the log. */
interface Answer {
  readonly reason: string
  readonly scope: 'task' | 'tree' | 'runs' | 'all'
  readonly id?: string
  readonly answer: boolean | number | readonly string[]
}

/** Bodies that end when the game says so, or by their signal if they heed it. */
class Bodies {
  readonly #gates = new Map<string, ReturnType<typeof gate<'return' | 'throw'>>>()
  #isOver = false

  readonly run = async (ctx: AgentContext, kind: Body): Promise<string> => {
    if (kind === 'nesting') {
      const child = await ctx.spawn({ agent: 'body', input: 'obedient' })
      return `saw ${(await ctx.wait(child.id)).status}`
    }
    const released = this.#gate(ctx.taskId).opened
    const how = await (kind === 'stubborn' ? released : Promise.race([released, untilStopped(ctx)]))
    if (how === 'throw') throw new Error('asked to fail')
    return 'done'
  }

  release(id: string, how: 'return' | 'throw'): void {
    this.#gate(id).open(how)
  }

  releaseAll(): void {
    this.#isOver = true
    for (const { open } of this.#gates.values()) open('return')
  }

  #gate(id: string): ReturnType<typeof gate<'return' | 'throw'>> {
    const known = this.#gates.get(id) ?? gate<'return' | 'throw'>()
    this.#gates.set(id, known)
    if (this.#isOver) known.open('return')
    return known
  }
}

class Game {
  readonly answers: Answer[] = []
  readonly #runtime: Runtime
  readonly #bodies: Bodies
  readonly #spawned: Promise<string | undefined>[] = []

  constructor(runtime: Runtime, bodies: Bodies) {
    this.#runtime = runtime
    this.#bodies = bodies
  }

  async make(move: Move): Promise<void> {
    switch (move.kind) {
      case 'spawn':
        return this.#keep(this.#spawn(move))
      case 'run':
        return this.#keep(this.#runtime.run({ thread: 't', agent: 'body', input: move.body }).then(({ id }) => id))
      case 'return':
      case 'throw': {
        const id = await this.#at(move.on)
        if (id !== undefined) this.#bodies.release(id, move.kind)
        return
      }
      default:
        return this.#cancel(move)
    }
  }

  async #keep(spawning: Promise<string | undefined>): Promise<void> {
    this.#spawned.push(spawning)
    await spawning
  }

  async #spawn({ under, isDetached, body: input }: Extract<Move, { kind: 'spawn' }>): Promise<string | undefined> {
    const parent = under === undefined ? undefined : await this.#at(under)
    const options = { thread: 't', agent: 'body', input, detached: isDetached }
    try {
      const lineage = parent === undefined ? {} : { parent: { task: parent } }
      return (await this.#runtime.spawn({ ...options, ...lineage })).id
    } catch (error) {
      expect(isHoldfastError(error, 'task_terminated') || isHoldfastError(error, 'limit_reached')).toBe(true)
      return undefined
    }
  }

  async #cancel(
    move: Extract<Move, { kind: 'task' | 'tree' }> | Extract<Move, { kind: 'runs' | 'all' }>,
  ): Promise<void> {
    const reason = `move ${this.answers.length}.${Math.random()}`
    const runtime = this.#runtime
    if (!('on' in move)) {
      const answer = await runtime.cancelThread('t', { scope: move.kind, reason })
      this.answers.push({ reason, scope: move.kind, answer })
      return
    }
    const id = await this.#at(move.on)
    if (id === undefined) return
    const answer = await (move.kind === 'task' ? runtime.cancel(id, reason) : runtime.cancelTree(id, reason))
    this.answers.push({ reason, scope: move.kind, id, answer })
    if (!answer) expect((await runtime.get(id))?.completedAt).toEqual(expect.any(Number))
  }

  #at(index: number): Promise<string | undefined> | undefined {
    return this.#spawned.length === 0 ? undefined : this.#spawned[index % this.#spawned.length]
  }
}

/** Plays a plan to its end, with moves under way at the same time, and checks what came of it. */
async function play(here: World, plan: Plan): Promise<void> {
  const bodies = new Bodies()
  const runtime = await here.open({ agents: { body: bodies.run }, concurrency: plan.slots, graceMs })
  const game = new Game(runtime, bodies)
  const moves: Promise<void>[] = []
  for (const next of plan.moves) {
    moves.push(game.make(next))
    for (let turn = 0; turn < next.turns; turn += 1) await nextTurn()
  }
  await Promise.all(moves)
  await finish(here, runtime, bodies, plan.finale)
  const laws = judge(here.committed, game.answers)
  for (const id of laws.ids) expect([id, (await runtime.get(id))?.status]).toEqual([id, laws.statusOf(id)])
}

async function finish(here: World, runtime: Runtime, bodies: Bodies, finale: Plan['finale']): Promise<void> {
  if (finale === 'release') bodies.releaseAll()
  else await runtime.cancelAll('t')
  await here.quiet()
  // Once for those told by now, and once for the children they leave behind.
  for (let round = 0; round < 2 && finale === 'grace'; round += 1) {
    await here.clock.advance(graceMs)
    await here.quiet()
  }
  expect(await runtime.hasRunning('t')).toBe(false)
  bodies.releaseAll()
}

function judge(units: readonly Unit[], answers: readonly Answer[]): TreeLaws {
  const laws = new TreeLaws()
  for (const unit of units) {
    const answer = answers.find(({ reason }) => unit.events.some(({ data }) => data.includes(reason)))
    // The ends of what it reached say its reason again.
    if (answer && unit.operation === 'cancel') expect(idsOrCount(answer), answer.scope).toEqual(expected(laws, answer))
    laws.take(unit)
  }
  for (const { scope, id = '', answer } of answers) {
    const told = typeof answer === 'object' ? answer : answer ? [id] : []
    for (const one of told) expect([scope, one, laws.statusOf(one)]).toEqual([scope, one, 'cancelled'])
  }
  for (const id of laws.ids) expect([id, laws.statusOf(id)]).toEqual([id, expect.stringMatching(/ed$/)])
  return laws
}

function idsOrCount({ answer }: Answer): unknown {
  return typeof answer === 'object' ? answer.toSorted() : Number(answer)
}

function expected(laws: TreeLaws, { scope, id, answer }: Answer): unknown {
  const reached = laws.reach(scope, id)
  return typeof answer === 'object' ? reached.toSorted() : reached.length
}

describe.each([
  { kind: 'memory', numRuns: 100 },
  { kind: 'sqlite', numRuns: 6 },
] as const)('$kind', ({ kind, numRuns }) => {
  it('CANC-22 whatever is spawned, cancelled and ended at the same time, each task ends once and each answer is true', async () => {
    const property = fc.asyncProperty(plans, async (plan) => {
      const here = createWorld(kind)
      try {
        await play(here, plan)
      } finally {
        await here.end()
      }
    })
    await fc.assert(property, { numRuns })
  })
})
