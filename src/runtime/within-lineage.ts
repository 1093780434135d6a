import type { SpawnOptions } from './agent.ts'
import type { Ambient } from './ambient.ts'
import { parentOf } from './request.ts'

/** What a call of some other framework is known by. */
export type Lineage = Omit<NonNullable<SpawnOptions['parent']>, 'task'>

/** Runs a function in which spawns inherit this lineage, on top of what is inherited here. */
export function withinLineage<Value>(
  ambient: Ambient,
  parent: Lineage,
  fn: () => Value | Promise<Value>,
): Promise<Value> {
  const outer = ambient.scope
  const lineage = { ...outer?.lineage, ...parentOf({ parent }) }
  return ambient.run({ ...outer, lineage }, async () => await fn())
}
