import { describe, expect, it } from 'vitest'
import { fromJSONSchema } from 'zod'
import { readProgram } from '../../../src/runtime/agents/script-program.ts'
import { scriptSchema } from '../../../src/runtime/agents/script-schema.ts'

type JsonSchema = Parameters<typeof fromJSONSchema>[0]

function fits(input: unknown, allowEffects: boolean): boolean {
  return fromJSONSchema(scriptSchema({ allowEffects }) as JsonSchema).safeParse(input).success
}

const ops: unknown[] = [
  { say: '' },
  { say: 1 },
  { say: 'x', loud: true },
  { think: 'x' },
  { think: null },
  { progress: 0 },
  { progress: 1 },
  { progress: 1.1 },
  { progress: '1' },
  { emit: 'e' },
  { emit: '' },
  { emit: 'e', payload: null },
  { emit: 'e', everyMs: 5 },
  { emit: 'e', payload: {}, times: 1, everyMs: 0 },
  { emit: 'e', times: 0 },
  { emit: 'e', times: 2, payload: 'x' },
  { emit: 'e', times: 1, everyMs: -1 },
  { tool: 't' },
  { tool: 't', input: 1, output: 2, ms: 3 },
  { tool: 't', ms: 1.5 },
  { tool: 't'.repeat(201) },
  { sleepMs: 0 },
  { sleepMs: 2 ** 31 },
  { sleepMs: 1, ms: 2 },
  { step: 'k' },
  { step: 'k', sleepMs: 1, value: null },
  { step: 'k', effect: 'http://127.0.0.1:1/x' },
  { step: 'k', effect: 1 },
  { step: 1 },
  { spawn: { script: [] } },
  { spawn: { script: [{ spawn: { script: [{ say: 'x' }] } }], name: 'n', detached: true, wait: false } },
  { spawn: { script: [{ spawn: { script: [{ dance: 1 }] } }] } },
  { spawn: { script: 1 } },
  { spawn: { script: [], wait: 1 } },
  { spawn: { script: [], name: 'a b' } },
  { spawn: {} },
  { receive: {} },
  { receive: { timeoutMs: 0 } },
  { receive: { timeoutMs: '1' } },
  { receive: true },
  { ask: { text: '?' } },
  { ask: { text: '?', options: ['a', 'b'], timeoutMs: 5, default: 'b' } },
  { ask: { text: '' } },
  { ask: { text: '?', options: [] } },
  { ask: { text: '?', options: [1] } },
  { ask: { text: '?', key: 'k' } },
  { ask: {} },
  { ask: '?' },
  { answer: null },
  { fail: '' },
  { fail: {} },
  { return: null },
  { hang: true },
  { hang: 'hard' },
  { hang: 'soft' },
  { blockMs: 1 },
  { blockMs: '1' },
  { shout: 'x' },
  {},
  'say',
]

describe('the schema of a script', () => {
  const inputs = [undefined, 'text', [], {}, { script: [], more: 1 }, ...ops.map((op) => ({ script: [op] }))]

  it.each([true, false])('fits what the agent accepts and nothing else, with effects %j', (allowEffects) => {
    const accepted = inputs.filter((input) => 'program' in readProgram(input, { allowEffects }))
    expect(accepted.length).toBeGreaterThan(20)
    expect(inputs.filter((input) => fits(input, allowEffects))).toEqual(accepted)
  })
})
