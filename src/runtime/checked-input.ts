import { HoldfastError } from '../core/errors.ts'
import type { JsonText } from '../core/id.ts'
import { errorText } from '../core/outcome.ts'
import type { Asked } from '../core/task.ts'
import { checkRegistered, type Registry } from './registry.ts'
import type { SchemaIssue, StandardSchema } from './standard-schema.ts'

/** What an agent is asked, as it is stored. */
interface Given {
  readonly asked: Asked
  readonly input?: JsonText
}

// Enough to mend an input by; a hostile one can be wrong in as many places as it has room for.
const issueCountMax = 20
const textLengthMax = 200

/** Refuses what no agent here is registered for, and what the agent's schema does not take. */
export async function checkAsked(agents: Registry, agent: string, given: Given): Promise<void> {
  checkRegistered(agents, agent)
  const schema = agents.get(agent)?.input
  if (schema) await parsedInput(schema, agent, given)
}

/** The input of a task as its agent is given it: what was stored, and what the agent's schema, if any, makes of that. */
export function inputOf(schema: StandardSchema | undefined, agent: string, given: Given): unknown {
  return schema ? parsedInput(schema, agent, given) : storedValue(given)
}

async function parsedInput(schema: StandardSchema, agent: string, given: Given): Promise<unknown> {
  const validated = await validate(schema, agent, storedValue(given))
  if (!validated.issues) return validated.value
  const errors = validated.issues.slice(0, issueCountMax).map((issue) => toFault(issue, given.asked))
  const [first] = errors
  const message = `The agent ${agent} does not take this ${fieldOf(given.asked)}: ${first?.path}: ${first?.message}`
  throw new HoldfastError('invalid_input', message, { facts: { errors } })
}

/** A schema is code of the agent's, and a defect of it is not the fault of who asks. */
async function validate(schema: StandardSchema, agent: string, value: unknown) {
  try {
    return await schema['~standard'].validate(value)
  } catch (cause) {
    const message = `The input schema of the agent ${agent} failed: ${errorText(cause)}`
    throw new HoldfastError('internal_error', message, { cause })
  }
}

function storedValue({ input }: Given): unknown {
  return input === undefined ? undefined : (JSON.parse(input) as unknown)
}

/** Where it stands in a request; what was given nothing lacks an input. */
function fieldOf(asked: Asked): string {
  return asked === 'prompt' || asked === 'parts' ? asked : 'input'
}

function toFault({ message, path = [] }: SchemaIssue, asked: Asked): { path: string; message: string } {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
  const place = [fieldOf(asked), ...keys.map(String)].join('.')
  return { path: place.slice(0, textLengthMax), message: message.slice(0, textLengthMax) }
}
