import type { ToolSet } from 'ai'
import type { AgentContext } from '../runtime/agent.ts'
import { digest } from '../runtime/digest.ts'
import { shortInput } from './after-crash.ts'
import { ownValue } from './own-value.ts'

/** What the SDK asks about a call before it is executed. */
interface ApprovalCall {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown }
  readonly tools: ToolSet | undefined
  readonly toolsContext: Readonly<Record<string, unknown>> | undefined
  readonly messages: readonly unknown[]
  readonly runtimeContext: unknown
}

export type Approval = {
  readonly type: 'not-applicable' | 'approved' | 'denied' | 'user-approval'
  readonly reason?: string
}

type Stated = Approval | Approval['type'] | undefined
type ToolStated = Stated | ((input: unknown, options: object) => Stated | PromiseLike<Stated>)

/** The SDK's setting: one function for all tools, or what holds for each. */
export type Approvals =
  | ((call: ApprovalCall) => Stated | PromiseLike<Stated>)
  | Readonly<Record<string, ToolStated>>
  | undefined

// Whoever approves a call must have seen it, and what hides behind a long beginning too: as much as fits into an event.
const inputLengthMax = 32 * 1024

const approve = 'approve'
const deny = 'deny'

/**
 * The SDK's tool approval as a question to people. The task waits for the answer and goes on in the same loop; a function
 * that decides is a step, so that it decides once.
 */
export function approvalByQuestion(ctx: AgentContext, approvals: Approvals): (call: ApprovalCall) => Promise<Approval> {
  return async (call) => {
    const decided = await decide(ctx, approvals, call)
    if (decided.type !== 'user-approval') return decided
    const { toolName, input } = call.toolCall
    const reason = decided.reason === undefined ? '' : ` (${decided.reason})`
    const text = `May the tool ${toolName} be called with ${shortInput(input, inputLengthMax)}?${reason}`
    // What is approved is this call of this tool: changed by a later version of the agent, it is another question.
    const key = `approval ${digest(toolName, shortInput(input, Number.POSITIVE_INFINITY))}`
    const { answer, by } = await ctx.ask({ text, options: [approve, deny], key })
    return answer === approve
      ? { type: 'approved', reason: `approved by ${by}` }
      : { type: 'denied', reason: `denied by ${by}` }
  }
}

async function decide(ctx: AgentContext, approvals: Approvals, call: ApprovalCall): Promise<Approval> {
  const stated = statementFor(approvals, call)
  if (typeof stated !== 'function') return toApproval(stated)
  return ctx.step('approval', async () => toApproval(await stated()), { input: call.toolCall })
}

/** What the settings say, or the function that says it. The agent's setting goes before the tool's own. */
function statementFor(approvals: Approvals, call: ApprovalCall): Stated | (() => Stated | PromiseLike<Stated>) {
  if (typeof approvals === 'function') return () => approvals(call)
  const { toolName: name, toolCallId, input } = call.toolCall
  const { messages, runtimeContext } = call
  const context = ownValue(call.toolsContext, name)
  const stated = ownValue(approvals, name)
  if (typeof stated === 'function') {
    return () => stated(input, { toolCallId, messages, toolContext: context, runtimeContext })
  }
  if (stated !== undefined) return stated
  const needs = (ownValue(call.tools, name) as NeedsApproval | undefined)?.needsApproval
  if (typeof needs !== 'function') return needs ? 'user-approval' : undefined
  return async () => ((await needs(input, { toolCallId, messages, context })) ? 'user-approval' : undefined)
}

interface NeedsApproval {
  readonly needsApproval?: boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>)
}

function toApproval(stated: Stated): Approval {
  if (stated === undefined) return { type: 'not-applicable' }
  return typeof stated === 'string' ? { type: stated } : stated
}
