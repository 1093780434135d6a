import type { SeededRandom } from '../seeded-random.ts'

/** An op of a script, as it is posted. */
export type ScriptOp = Readonly<Record<string, unknown>>
export type Script = readonly ScriptOp[]

const weights = {
  say: 5,
  think: 1,
  progress: 1,
  emit: 3,
  tool: 2,
  step: 6,
  sleep: 2,
  receive: 4,
  ask: 5,
  spawn: 3,
  answer: 1,
}

const opsMax = 5
const depthMax = 2
const longMs = 600

/** A script that comes to an end by itself, however it is cut. `effect` is where its steps leave their effects. */
export function makeScript(random: SeededRandom, effect: string, depth = 0): Script {
  const count = 1 + random.below(opsMax)
  const ops = Array.from({ length: count }, (_, index) => makeOp(random, effect, index, depth))
  const ending = random.weighted({ none: 6, return: 3, fail: 1 })
  if (ending === 'return') return [...ops, { return: { count } }]
  return ending === 'fail' ? [...ops, { fail: 'as the script says' }] : ops
}

/** A script that is over within a moment and is nobody's parent. */
export function makeBriefScript(random: SeededRandom, effect: string): Script {
  const ops: ScriptOp[] = [
    { say: 'brief;' },
    { step: 'brief', effect, sleepMs: random.below(5) },
    { sleepMs: random.below(20) },
    { emit: 'mark', payload: {}, times: 1 + random.below(3) },
  ]
  return ops.slice(random.below(ops.length))
}

/** A script that leaves nothing outside its thread: no effect, no child, no question. */
export function makePlainScript(random: SeededRandom): Script {
  const marks = { emit: 'mark', payload: {}, times: 1 + random.below(20), everyMs: random.below(3) }
  return [{ say: 'plain;' }, marks, { sleepMs: duration(random, 20) }]
}

/** A script that never ends by itself, made from one that does. */
export function makeEndlessScript(random: SeededRandom, script: Script): Script {
  const first = script.filter((op) => !('return' in op) && !('fail' in op))
  return [...first, { hang: random.chance(0.1) ? 'hard' : true }]
}

function makeOp(random: SeededRandom, effect: string, index: number, depth: number): ScriptOp {
  const op = random.weighted(weights)
  switch (op) {
    case 'say':
      return { say: `say${index};${'.'.repeat(random.chance(0.1) ? random.below(2000) : 0)}` }
    case 'think':
      return { think: `think${index}` }
    case 'progress':
      return { progress: random.below(100) / 100 }
    case 'emit':
      return { emit: 'mark', payload: { index }, times: 1 + random.below(8), everyMs: random.below(3) }
    case 'tool':
      return { tool: 'look', input: { index }, output: 'seen', ms: random.below(10) }
    case 'step':
      return { step: `step${index}`, effect, sleepMs: duration(random, 10), value: index }
    case 'sleep':
      return { sleepMs: duration(random, 20) }
    case 'receive':
      return { receive: { timeoutMs: random.below(300) } }
    case 'ask':
      return { ask: { text: `ask${index}`, timeoutMs: 20 + random.below(400), default: index } }
    case 'answer':
      return { answer: index }
    case 'spawn':
      return depth < depthMax ? makeSpawn(random, effect, depth + 1, index) : { say: `leaf${index};` }
  }
}

/** Mostly a moment; now and then so long that a node is likely to be lost meanwhile. */
function duration(random: SeededRandom, shortMs: number): number {
  return random.below(random.chance(0.2) ? longMs : shortMs)
}

function makeSpawn(random: SeededRandom, effect: string, depth: number, index: number): ScriptOp {
  const script = [{ think: `${markStart}${index}` }, ...makeScript(random, effect, depth)]
  const how = random.weighted({ wait: 5, detached: 3, attached: 2 })
  return { spawn: { script, ...(how !== 'attached' && { [how]: true }) } }
}

const markStart = 'spawned by op '

/** What tells children of one script apart: the op that spawned them. Undefined for what no script spawned. */
export function spawnMark(script: Script | undefined): string | undefined {
  const thought = script?.[0]?.['think']
  return typeof thought === 'string' && thought.startsWith(markStart) ? thought : undefined
}

/** The script in the input of a task; undefined for one that was given words, or was woken. */
export function scriptIn(input: unknown): Script | undefined {
  return typeof input === 'object' && input !== null && 'script' in input ? (input.script as Script) : undefined
}

/** All that a script says when nothing stops it. */
export function textOfScript(script: Script): string {
  return script.map((op) => (typeof op['say'] === 'string' ? op['say'] : '')).join('')
}
