import { SeededRandom } from '../../src/chaos/seeded-random.ts'

/** What a task of the load is given: all that it does follows from it. */
export interface Assignment {
  readonly seed: number
  /** How deep a tree it may still grow. */
  readonly depth: number
  /** The task that spawned it waits for it. */
  readonly awaited?: true
}

export type Op =
  | { readonly op: 'say'; readonly text: string }
  | { readonly op: 'mark'; readonly padding: number }
  | { readonly op: 'answer'; readonly output: number }
  | { readonly op: 'usage'; readonly tokens: number }
  /** A step that says something; one with another inside; two at once; a tool call. All have effects. */
  | { readonly op: 'step'; readonly text: string }
  | { readonly op: 'nest' }
  | { readonly op: 'pair' }
  | { readonly op: 'tool' }
  | { readonly op: 'messages' }
  | { readonly op: 'sleep'; readonly ms: number }
  | { readonly op: 'receive'; readonly timeoutMs: number; readonly only: 'messages' | 'all' }
  | { readonly op: 'ask'; readonly timeoutMs: number; readonly hasDefault: boolean }
  | { readonly op: 'spawn'; readonly child: Assignment; readonly where: 'attached' | 'detached' | 'elsewhere' }

export interface Program {
  readonly ops: readonly Op[]
  readonly ending: 'completed' | 'failed' | 'cancelled'
  /** What the agent itself returns, if it completes. */
  readonly returned?: string
}

const weights: Readonly<Record<Op['op'], number>> = {
  say: 4,
  mark: 2,
  answer: 1,
  usage: 1,
  step: 6,
  nest: 2,
  pair: 2,
  tool: 2,
  messages: 1,
  sleep: 2,
  receive: 7,
  ask: 6,
  spawn: 5,
}

const opsMin = 2
const opsMore = 5

/** The program of an assignment, the same in every attempt and for whoever checks it. */
export function programOf({ seed, depth }: Assignment): Program {
  const random = new SeededRandom(seed)
  const count = opsMin + random.below(opsMore)
  const ops = Array.from({ length: count }, (_, index) => makeOp(random, index, depth))
  const ending = random.weighted({ completed: 8, failed: 1, cancelled: 1 })
  return { ops, ending, ...(random.chance(0.5) && { returned: 'done' }) }
}

function makeOp(random: SeededRandom, index: number, depth: number): Op {
  const op = random.weighted(weights)
  switch (op) {
    case 'say':
    case 'step':
      return { op, text: `${op}${index};` }
    case 'answer':
      return { op, output: index }
    case 'usage':
      return { op, tokens: 1 + random.below(100) }
    case 'sleep':
      return { op, ms: 1 + random.below(20) }
    case 'receive':
      return { op, timeoutMs: 5 + random.below(60), only: random.chance(0.5) ? 'all' : 'messages' }
    case 'ask':
      return { op, timeoutMs: 20 + random.below(200), hasDefault: random.chance(0.5) }
    case 'spawn':
      return depth > 0 ? makeSpawn(random, depth - 1) : { op: 'mark', padding: 0 }
    case 'mark':
      // Now and then one that takes several pages of the file.
      return { op, padding: random.chance(0.1) ? random.below(60_000) : 0 }
    case 'nest':
    case 'pair':
    case 'tool':
    case 'messages':
      return { op }
  }
}

function makeSpawn(random: SeededRandom, depth: number): Op {
  const isAwaited = random.chance(0.6)
  const child = { seed: random.below(2 ** 31), depth, ...(isAwaited && { awaited: true as const }) }
  return { op: 'spawn', child, where: random.weighted({ attached: 5, detached: 4, elsewhere: 1 }) }
}

/** All that a completed program has said, in order. */
export function textOf({ ops }: Program): string {
  return ops.map((op) => ('text' in op ? op.text : '')).join('')
}

/** The result of a completed program: what it returned, else its last answer. */
export function resultOf({ ops, returned }: Program): unknown {
  return returned ?? ops.findLast((op) => op.op === 'answer')?.output
}

export function tokensOf({ ops }: Program): number {
  return ops.reduce((sum, op) => sum + (op.op === 'usage' ? op.tokens : 0), 0)
}

export const wokenText = 'woken;'

/** The assignment in the input of a task, as it is or as the text of a prompt; undefined for one that has none. */
export function assignmentIn(input: unknown): Assignment | undefined {
  const given: unknown = typeof input === 'string' && input.startsWith('{') ? JSON.parse(input) : input
  return typeof given === 'object' && given !== null && 'seed' in given ? (given as Assignment) : undefined
}
