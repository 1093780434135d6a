import type { TaskId } from './id.ts'
import type { Part } from './message.ts'
import type { StatedEnding } from './outcome.ts'
import type { Task } from './task.ts'

/**
 * What is known of the agents that are asked: the type of the object that the runtime was given. Each is a function of a
 * context and an input, or an object whose `run` is one, maybe with a schema as its `input`. Without it every name is taken,
 * and inputs and results are `unknown`.
 */
export type AnyAgents = Readonly<Record<string, unknown>>

/** A name under which one of the agents can be asked. */
export type AgentName<Agents extends AnyAgents> = keyof Agents & string

export type FunctionOf<Agent> = Agent extends { readonly run: infer Run } ? Run : Agent

/** What an agent that does not say what it takes, or takes no particular thing, can be given. */
type Stated<Type> = [Type] extends [never] ? unknown : Type

/** What an agent takes: what its schema does, which may make something else of it, else what its function does. */
export type InputOf<Agent> = Agent extends {
  readonly input: { readonly '~standard': { readonly types?: infer Types } }
}
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : FunctionOf<Agent> extends (ctx: never, input: infer Input) => unknown
    ? Stated<Input>
    : unknown

/** What an agent returns; of one that yields what it says, what it returns in the end. Without either, any `answer`. */
export type ResultOf<Agent> =
  FunctionOf<Agent> extends (...given: never) => infer Returned
    ? ResultIn<Returned extends AsyncGenerator<unknown, infer Last> ? Last : Awaited<Returned>>
    : unknown

type ResultIn<Returned> = [Exclude<Returned, StatedEnding>] extends [ReturnType<() => void>]
  ? unknown
  : Exclude<Returned, StatedEnding>

/** Exactly one of these. An agent is given a prompt as its input, so it has to take a text; likewise with parts. */
export type Ask<Input> =
  | { readonly input: Input; readonly prompt?: never; readonly parts?: never }
  | (string extends Input ? { readonly prompt: string; readonly input?: never; readonly parts?: never } : never)
  | (readonly Part[] extends Input
      ? { readonly parts: readonly Part[]; readonly input?: never; readonly prompt?: never }
      : never)

/** The id of a task whose result is of a known type. What tells the type is never there. */
export type TaskIdOf<Result> = TaskId & { readonly '~result'?: Result }

/** A task whose result is of a known type. */
export type TaskOf<Result = unknown> = Omit<Task, 'id' | 'result'> & {
  readonly id: TaskIdOf<Result>
  readonly result?: Result
}
