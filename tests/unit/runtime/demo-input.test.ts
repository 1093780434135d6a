import { describe, expect, it } from 'vitest'
import { fromJSONSchema } from 'zod'
import { demoInput, demoSchema } from '../../../src/runtime/agents/demo/input.ts'

const inputs: unknown[] = [
  {},
  { topic: 'Tides' },
  { topic: 'x'.repeat(200), pace: 0.1, part: 'steps' },
  { topic: 'x'.repeat(201) },
  { topic: '' },
  { topic: ' \n' },
  { topic: 1 },
  { pace: 100 },
  { pace: 100.5 },
  { pace: 0 },
  { pace: '1' },
  { part: 'moods' },
  { part: null },
  { subject: 'x' },
  null,
  7,
]

describe('the schema of the demo', () => {
  it('fits what the agent accepts and nothing else', async () => {
    const published = fromJSONSchema(demoSchema as Parameters<typeof fromJSONSchema>[0])
    for (const input of inputs) {
      const { issues } = await demoInput['~standard'].validate(input)
      expect([input, published.safeParse(input).success]).toEqual([input, issues === undefined])
    }
  })

  it('takes prompts, parts and nothing at all', async () => {
    for (const input of ['A topic', [{ type: 'text', text: 'A topic' }], undefined]) {
      expect(await demoInput['~standard'].validate(input)).toEqual({ value: input })
    }
  })
})
