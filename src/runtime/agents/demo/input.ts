import { failed, type StatedEnding } from '../../../core/outcome.ts'
import type { AgentContext } from '../../agent.ts'
import type { SchemaIssue, StandardSchema } from '../../standard-schema.ts'
import { askedText } from '../asked-text.ts'
import { refusingSchema } from '../refusing-schema.ts'
import { isPartName, type PartName, partNames } from './story.ts'

/** What the demo was asked for, with all its defaults. */
export interface DemoInput {
  readonly topic: string
  /** How many times faster than usual. */
  readonly pace: number
  /** One part of the research, for one that was spawned to do just that. */
  readonly part?: PartName
}

const topicDefault = 'What lets a background run hold fast?'
const topicLengthMax = 200
const [paceMin, paceMax] = [0.1, 100]

export const demoSchema: object = {
  type: 'object',
  properties: {
    topic: {
      type: 'string',
      maxLength: topicLengthMax,
      // More than white space.
      pattern: '\\S',
      description: `What to look into, such as: ${topicDefault}`,
    },
    pace: { type: 'number', minimum: paceMin, maximum: paceMax, description: 'How many times faster than usual' },
    part: { enum: partNames, description: 'One part of the research alone' },
  },
  additionalProperties: false,
}

export const demoInput: StandardSchema = refusingSchema((input) => {
  const read = readFields(input)
  return 'message' in read ? [read] : []
})

/** Reads a prompt, which is the topic, or an input; what is wrong with it fails the task in words. */
export function readDemoInput(ctx: AgentContext, input: unknown): DemoInput | StatedEnding {
  const prompt = askedText(ctx, input)
  if (prompt !== undefined) return { topic: prompt.trim().slice(0, topicLengthMax) || topicDefault, pace: 1 }
  const read = readFields(input)
  if (!('message' in read)) return read
  return failed(`The demo cannot start: ${read.message}. Give it {"topic": "…"}, a prompt, or nothing at all`)
}

function readFields(input: unknown): DemoInput | SchemaIssue {
  if (input === undefined) return { topic: topicDefault, pace: 1 }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { message: 'its input is an object' }
  const { topic = topicDefault, pace = 1, part, ...unknown } = input as Readonly<Record<string, unknown>>
  const [surplus] = Object.keys(unknown)
  if (surplus !== undefined) return { message: `its input has no field ${JSON.stringify(surplus)}` }
  if (typeof topic !== 'string' || topic.length > topicLengthMax || topic.trim() === '') {
    return { path: ['topic'], message: `topic is a text of 1-${topicLengthMax} characters` }
  }
  if (typeof pace !== 'number' || !(pace >= paceMin && pace <= paceMax)) {
    return { path: ['pace'], message: `pace is a number from ${paceMin} to ${paceMax}` }
  }
  if (part === undefined) return { topic, pace }
  return isPartName(part)
    ? { topic, pace, part }
    : { path: ['part'], message: `part is one of ${partNames.join(', ')}` }
}
