import { isHoldfastError } from '../core/errors.ts'
import type { AgentContext, ShownPart } from '../runtime/agent.ts'

export type ShownTool = Extract<ShownPart, { type: 'tool' }>

/** Shows a call that is executed elsewhere, or by nobody. What of it is too large for an event is only told of. */
export function showTool(ctx: AgentContext, tool: ShownTool): Promise<void> {
  return unlessTooLarge(
    () => ctx.show(tool),
    () => {
      const { output, error } = tool
      const ending = { ...(output !== undefined && { output: omitted }), ...(error !== undefined && { error }) }
      return ctx.show({ ...tool, input: omitted, ...ending })
    },
  )
}

const omitted = { omitted: 'It is too large to be kept.' }

/** An emit that is too large is refused at once, and with it nothing has happened. */
export function unlessTooLarge(emit: () => Promise<void>, instead: () => Promise<void>): Promise<void> {
  try {
    return emit()
  } catch (error) {
    if (!isHoldfastError(error, 'too_large')) throw error
    return instead()
  }
}
