import type { AnyAgents, FunctionOf } from '../core/known-agents.ts'
import type { CustomEvent } from './thread-event.ts'

/** The custom events that the agents emit, as far as they say so in the type of their context. */
export type CustomOf<Agents extends AnyAgents> = { [Name in keyof Agents]: CustomOfAgent<Agents[Name]> }[keyof Agents] &
  CustomEvent

type CustomOfAgent<Agent> =
  FunctionOf<Agent> extends (ctx: infer Context, ...rest: never) => unknown
    ? Context extends { emit(...event: infer Emitted): unknown }
      ? EventIn<Emitted>
      : CustomEvent
    : CustomEvent

type EventIn<Emitted> = Emitted extends readonly [name: infer Name extends string, payload?: infer Payload]
  ? { readonly name: Name; readonly payload?: Payload }
  : never
