import type { AnyAgents, Ask as AskOf, InputOf, ResultOf } from '../core/known-agents.ts'
import type { AgentFunction, Ask, SpawnOptions } from './agent.ts'

/** What each agent can be asked in a run. Agents whose names are not known can be asked anything. */
export type RunAsks<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: string extends Name ? unknown : AskOf<InputOf<Known[Name]>>
}

/** What each agent can be spawned with: as in a run, or with nothing if that suits it. */
export type SpawnAsks<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: string extends Name
    ? unknown
    : { readonly agent: Name; readonly run?: never } & (AskOf<InputOf<Known[Name]>> | Nothing<InputOf<Known[Name]>>)
}

type Nothing<Input> = undefined extends Input ? { readonly [Field in keyof Ask]?: never } : never

/** What each agent returns. */
export type Results<Known extends AnyAgents> = {
  readonly [Name in keyof Known]: ResultOf<Known[Name]>
}

/** A background task of a function, which has no name. */
export type SpawnFunction = SpawnOptions<never> & { readonly run: AgentFunction }
