import { errorText } from '../core/outcome.ts'
import type { AgentContext } from '../runtime/agent.ts'
import type { AfterCrash } from './after-crash.ts'
import type { CallSettings, EndedStep, PreparedStep, StepContent, StepToPrepare } from './agent-settings.ts'
import { approvalByQuestion } from './approval.ts'
import { durableModel } from './durable-model.ts'
import { durableRepair } from './durable-repair.ts'
import { durableTools } from './durable-tools.ts'
import { readInbox } from './inbox-messages.ts'
import { OpenCalls } from './open-calls.ts'
import { showTool } from './shown-tool.ts'

export interface SdkLoopParts {
  readonly ctx: AgentContext
  readonly policyOf: (tool: string) => AfterCrash
  /** What the model is told before each of its steps, besides the conversation. */
  readonly note?: () => Promise<string | undefined>
}

/**
 * The SDK's loop as a task takes it. Between two steps of the model nothing runs in parallel, so what is done there (reading
 * the inbox, noting the thread's tasks) comes in the same order on replay.
 */
export class SdkLoop {
  readonly openCalls = new OpenCalls()
  readonly #parts: SdkLoopParts
  /** The calls of the step at work that are executed here, and so told of by their own steps. */
  readonly #executed = new Set<string>()
  #note: string | undefined

  constructor(parts: SdkLoopParts) {
    this.#parts = parts
  }

  /** What a call is made with, made durable. */
  prepare(call: CallSettings): CallSettings {
    const { ctx, policyOf } = this.#parts
    const { openCalls } = this
    const { repairToolCall = call.experimental_repairToolCall } = call
    const models = { ctx, openCalls, provided: new Map(), note: () => this.#note }
    const onExecuted = (id: string) => void this.#executed.add(id)
    return {
      ...call,
      model: durableModel(models, call.model),
      ...(call.tools && { tools: durableTools({ ctx, openCalls, policyOf, onExecuted }, call.tools) }),
      toolApproval: approvalByQuestion(ctx, call.toolApproval),
      ...(repairToolCall && { repairToolCall: durableRepair(ctx, openCalls, repairToolCall) }),
      prepareStep: async (step) => {
        const prepared = await this.#prepareStep(step, call)
        return prepared.model ? { ...prepared, model: durableModel(models, prepared.model) } : prepared
      },
    }
  }

  /** Tells of the calls of a step that nobody executed: denied, not understood, or left to a client. */
  async tellUnexecuted({ content }: EndedStep): Promise<void> {
    const { ctx } = this.#parts
    for (const part of content) {
      const { type, toolCallId: call, toolName: name, input, providerExecuted } = part
      if (type !== 'tool-call' || call === undefined || name === undefined) continue
      if (providerExecuted || this.#executed.has(call)) continue
      const shown = { type: 'tool', id: `${ctx.taskId}:${call}`, name, input: input ?? null } as const
      await showTool(ctx, shown)
      const error = refusalOf(content, call)
      if (error !== undefined) await showTool(ctx, { ...shown, error })
    }
    this.#executed.clear()
  }

  /** The user's own hook is shown the user's model: one that is made durable belongs to this task, and to nobody else. */
  async #prepareStep(step: StepToPrepare, { model, prepareStep }: CallSettings): Promise<PreparedStep> {
    const { ctx, note } = this.#parts
    const last = step.steps.at(-1)
    if (last) await this.tellUnexecuted(last)
    const arrived = await readInbox(ctx)
    if (note) this.#note = await ctx.step('note', note)
    const messages = [...step.messages, ...arrived]
    const prepared = await prepareStep?.({ ...step, model, messages })
    return { ...prepared, ...(arrived.length > 0 && { messages: prepared?.messages ?? messages }) }
  }
}

function refusalOf(content: readonly StepContent[], call: string): string | undefined {
  for (const { type, toolCallId, toolCall, error, approved, reason } of content) {
    if (type === 'tool-error' && toolCallId === call) return errorText(error)
    if (type === 'tool-approval-response' && toolCall?.toolCallId === call && approved === false) {
      return `The call was ${reason ?? 'denied'}`
    }
  }
  return undefined
}
