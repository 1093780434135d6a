import { failed, type StatedEnding } from '../../../core/outcome.ts'
import type { AgentContext } from '../../agent.ts'
import { askedText } from '../asked-text.ts'
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
    topic: { type: 'string', maxLength: topicLengthMax, description: `What to look into, such as: ${topicDefault}` },
    pace: { type: 'number', minimum: paceMin, maximum: paceMax, description: 'How many times faster than usual' },
    part: { enum: partNames, description: 'One part of the research alone' },
  },
  additionalProperties: false,
}

/** Reads a prompt, which is the topic, or an input; what is wrong with it fails the task in words. */
export function readDemoInput(ctx: AgentContext, input: unknown): DemoInput | StatedEnding {
  const prompt = askedText(ctx, input)
  if (prompt !== undefined) return { topic: prompt.trim().slice(0, topicLengthMax) || topicDefault, pace: 1 }
  if (input === undefined) return { topic: topicDefault, pace: 1 }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return refusal('its input is an object')
  const { topic = topicDefault, pace = 1, part, ...unknown } = input as Readonly<Record<string, unknown>>
  const [surplus] = Object.keys(unknown)
  if (surplus !== undefined) return refusal(`its input has no field ${JSON.stringify(surplus)}`)
  if (typeof topic !== 'string' || topic.length > topicLengthMax || topic.trim() === '') {
    return refusal(`topic is a text of 1-${topicLengthMax} characters`)
  }
  if (typeof pace !== 'number' || !(pace >= paceMin && pace <= paceMax)) {
    return refusal(`pace is a number from ${paceMin} to ${paceMax}`)
  }
  if (part === undefined) return { topic, pace }
  return isPartName(part) ? { topic, pace, part } : refusal(`part is one of ${partNames.join(', ')}`)
}

function refusal(what: string): StatedEnding {
  return failed(`The demo cannot start: ${what}. Give it {"topic": "…"}, a prompt, or nothing at all`)
}
