import { z } from 'zod'
import { givenPart } from './part.ts'
import { idText, nameText, typeText } from './words.ts'

// The longest that a timer of the platform waits in one go; a task that needs longer needs no timeout.
const timeoutMsMax = 2 ** 31 - 1
const descriptionLengthMax = 1000
// Far longer than any name of an agent, and short enough to be repeated in the answer that it is unknown.
const agentLengthMax = 200

const work = {
  agent: z.string().max(agentLengthMax),
  prompt: z.string().optional(),
  parts: z.array(givenPart).min(1, 'At least one part is needed').optional(),
  input: z.unknown().optional(),
  description: z.string().max(descriptionLengthMax).optional(),
  timeoutMs: z.int().min(1).max(timeoutMsMax).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
}

/** The fields of a run, wherever it is asked for. */
export const runFields = {
  ...work,
  onBusy: z.enum(['queue', 'steer', 'interrupt', 'reject']).optional(),
  onResult: z.enum(['collect', 'wake']).optional(),
}

interface Asked {
  readonly prompt?: unknown
  readonly parts?: unknown
  readonly input?: unknown
}

export function asksOnce({ prompt, parts, input }: Asked): boolean {
  return Number(prompt !== undefined) + Number(parts !== undefined) + Number(input !== undefined) === 1
}

export const asksOnceMessage = 'Exactly one of prompt, parts and input is needed'

export const runBody = z.strictObject(runFields).refine(asksOnce, asksOnceMessage).meta({ id: 'RunRequest' })

export const taskBody = z
  .strictObject({
    ...work,
    type: typeText.optional(),
    name: nameText.optional(),
    parent: idText.optional(),
    detached: z.boolean().optional(),
  })
  .refine(asksOnce, asksOnceMessage)
  .meta({ id: 'TaskRequest' })
