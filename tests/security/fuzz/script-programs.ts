import { nastyTexts } from '../../../src/chaos/hostile/words.ts'
import { type Maker, pickFrom } from './schema-values.ts'

export interface FuzzedProgram {
  readonly script: unknown
  /** Whether it may wait for something that never comes; it is cancelled then. */
  readonly mayWait: boolean
}

type Op = Readonly<Record<string, unknown>>

// Nobody listens there.
const effect = 'http://127.0.0.1:1/effect'
const depthMax = 4

/** Ops that end by themselves, each in a moment. */
function endingOps(maker: Maker): readonly Op[] {
  const { random } = maker
  const word = pickFrom(maker, ['a', 'b', 'c', ...nastyTexts])
  const ms = random.below(5)
  return [
    { say: word },
    { think: word },
    { progress: random.next() },
    { emit: word, payload: word },
    { emit: word, payload: { [word]: word }, times: 1 + random.below(40), everyMs: random.below(2) },
    { tool: word, input: word, output: { word }, ms },
    { step: word, sleepMs: ms, value: word },
    { step: word, effect },
    { sleepMs: ms },
    { receive: { timeoutMs: ms } },
    { ask: { text: word, timeoutMs: ms, default: word } },
    { ask: { text: word, timeoutMs: ms } },
    { ask: { text: word, options: [word, 'b'], timeoutMs: ms, default: 'b' } },
    { answer: word },
    { fail: word },
    { return: { word } },
    { blockMs: ms },
    { say: 'x'.repeat(random.below(300_000)) },
    { return: 'x'.repeat(random.below(300_000)) },
  ]
}

const waitingOps: readonly Op[] = [
  { receive: {} },
  { ask: { text: 'really?' } },
  { hang: true },
  { hang: 'hard' },
  { sleepMs: 2 ** 31 - 1 },
  { emit: 'flood', times: 1e15 },
  { emit: 'slow', times: 1000, everyMs: 60_000 },
  { tool: 'slow', ms: 2 ** 31 - 1 },
]

const brokenOps: readonly unknown[] = [
  ...[null, 1, 'say', [], {}, { sing: 'x' }, { say: 1 }, { say: 'x', think: 'y' }, { progress: 2 }, { progress: -1 }],
  ...[{ emit: '' }, { emit: 'x', times: 0 }, { emit: 'x', times: 1.5 }, { emit: 'x', payload: 'y', times: 2 }],
  ...[
    { sleepMs: -1 },
    { sleepMs: 2 ** 31 },
    { sleepMs: '1' },
    { step: 'x'.repeat(201) },
    { step: 'x', effect: 'file:' },
  ],
  ...[
    { step: 'x', effect: 'http://evil.example' },
    { step: 'x', effect: 'http://127.0.0.1@evil.example' },
  ],
  ...[{ spawn: {} }, { spawn: { script: 1 } }, { spawn: { script: [], name: 'a b' } }, { spawn: { script: [{}] } }],
  ...[{ receive: 1 }, { ask: { text: '' } }, { ask: { text: 'x', options: [] } }, { hang: false }, { blockMs: -1 }],
  ...[{ ask: { text: 'x', options: ['a'], default: 'b' } }, { __proto__: null, constructor: 1 }, { toString: 1 }],
]

/** A program of a few ops: all right, or with one that is not. */
export function fuzzedProgram(maker: Maker, depth = 0): FuzzedProgram {
  const { random } = maker
  const ops: unknown[] = []
  let mayWait = false
  for (let left = random.below(6); left > 0; left -= 1) {
    const kind = random.weighted({ ending: 12, waiting: 2, spawn: depth < depthMax ? 3 : 0, broken: 0.6 })
    if (kind === 'ending') ops.push(pickFrom(maker, endingOps(maker)))
    if (kind === 'waiting') ops.push(pickFrom(maker, waitingOps))
    if (kind === 'broken') ops.push(pickFrom(maker, brokenOps))
    if (kind === 'waiting') mayWait = true
    if (kind !== 'spawn') continue
    const child = fuzzedProgram(maker, depth + 1)
    const name = random.chance(0.3) && { name: pickFrom(maker, ['a', 'b', 'c']) }
    ops.push({ spawn: { script: child.script, ...name, detached: random.chance(0.3), wait: random.chance(0.6) } })
    mayWait ||= child.mayWait
  }
  return { script: ops, mayWait }
}
