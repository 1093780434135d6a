import type { AgentName, AnyAgents, Ask as AskOf, InputOf, ResultOf } from '../core/known-agents.ts'
import type { AgentFunction, Ask, RunOptions, SpawnOptions } from './agent.ts'

/** A run of one of the agents. */
export type RunOf<Known extends AnyAgents, Name extends AgentName<Known>> = RunOptions<Name> & RunAsks<Known>[Name]

/** A background task of one of the agents. */
export type SpawnOf<Known extends AnyAgents, Name extends AgentName<Known>> = SpawnOptions<Name> &
  SpawnAsks<Known>[Name]

/** A background task of a function, which has no name. */
export type SpawnFunction = SpawnOptions<never> & { readonly run: AgentFunction }

// Mapped types, because of conditional ones alone TypeScript does not see that a runtime of known agents is a Runtime.

/** What each agent can be asked in a run. Agents whose names are not known can be asked anything. */
type RunAsks<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: string extends Name ? unknown : AskOf<InputOf<Known[Name]>>
}

/** What each agent can be spawned with: as in a run, or with nothing if that suits it. */
type SpawnAsks<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: string extends Name
    ? unknown
    : { readonly agent: Name; readonly run?: never } & (AskOf<InputOf<Known[Name]>> | Nothing<InputOf<Known[Name]>>)
}

type Nothing<Input> = undefined extends Input ? { readonly [Field in keyof Ask]?: never } : never

/** What each agent returns. */
export type Results<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: ResultOf<Known[Name]>
}
