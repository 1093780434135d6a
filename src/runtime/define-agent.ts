import { HoldfastError } from '../core/errors.ts'
import type { Agent, AgentContext } from './agent.ts'
import type { SchemaOutput, StandardSchema } from './standard-schema.ts'

/** Any agent can state these. */
type About = Omit<Agent, 'run' | 'input'>

/** The code of an agent: an async function, or an async generator whose yields are put out as they come. */
export type AgentCode<Custom extends object, Input, Returned> = (ctx: AgentContext<Custom>, input: Input) => Returned

/** An agent with a schema: its code is given what the schema makes of the input. */
export interface SchemaAgent<Schema extends StandardSchema, Custom extends object, Returned> extends About {
  /** Any Standard Schema. What does not fit is refused as `invalid_input` before anything is stored. */
  readonly input: Schema
  readonly run: AgentCode<Custom, SchemaOutput<Schema>, Returned>
}

/** An agent without a schema: its code is given the input as it was sent. */
export interface PlainAgent<Input, Custom extends object, Returned> extends About {
  readonly run: AgentCode<Custom, Input, Returned>
}

type AnyEvents = Readonly<Record<string, unknown>>

/**
 * An agent of a plain function: with a schema, its input is checked when a task is accepted and parsed when it starts, and
 * its type is known in `run` and to clients.
 */
export function agent<Schema extends StandardSchema, Returned, Custom extends object = AnyEvents>(
  options: SchemaAgent<Schema, Custom, Returned>,
): SchemaAgent<Schema, Custom, Returned>
export function agent<Returned, Input = unknown, Custom extends object = AnyEvents>(
  options: PlainAgent<Input, Custom, Returned> & { readonly input?: never },
): PlainAgent<Input, Custom, Returned>
export function agent<Returned, Input = unknown, Custom extends object = AnyEvents>(
  run: AgentCode<Custom, Input, Returned>,
): PlainAgent<Input, Custom, Returned>
export function agent(given: Agent | Agent['run']): Agent {
  if (typeof given === 'function') return { run: given }
  if (typeof (given as Agent | null)?.run === 'function') return { ...given }
  throw new HoldfastError('invalid_request', 'agent() takes a function, or an object with one named run')
}
