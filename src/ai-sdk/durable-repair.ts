import type { AgentContext } from '../runtime/agent.ts'
import { asRecorded } from './durable-tools.ts'
import type { OpenCalls } from './open-calls.ts'

/** The SDK's setting: makes a call that can be understood of one that cannot, or nothing. */
export type Repair = (asked: { readonly toolCall: object }) => PromiseLike<object | null>

/** A repair that is a step: most ask a model, which is not to be paid twice and would make another call of it. */
export function durableRepair(ctx: AgentContext, openCalls: OpenCalls, repair: Repair): Repair {
  return async (asked) => {
    try {
      return await openCalls.add(ctx.step('repair', async () => repair(asked), { input: asked.toolCall }))
    } catch (error) {
      throw asRecorded(error)
    }
  }
}
