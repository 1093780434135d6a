import { type LanguageModel, type ModelMessage, ToolLoopAgent, type ToolSet } from 'ai'
import { HoldfastError } from '../core/errors.ts'
import type { Approvals } from './approval.ts'
import type { Repair } from './durable-repair.ts'

/** An agent of the SDK, whatever its types: a `ToolLoopAgent`, or a subclass of it. */
export interface SdkAgent {
  readonly version: 'agent-v1'
  readonly tools: object
  stream(options: never): PromiseLike<unknown>
}

/** A step of the loop that has ended. */
export interface EndedStep {
  readonly content: readonly StepContent[]
}

export interface StepContent {
  readonly type: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
  readonly error?: unknown
  readonly approved?: boolean
  readonly reason?: string
  readonly toolCall?: { readonly toolCallId: string }
}

export interface StepToPrepare {
  readonly model: LanguageModel
  readonly steps: readonly EndedStep[]
  readonly messages: ModelMessage[]
}

export interface PreparedStep {
  readonly model?: LanguageModel
  readonly messages?: ModelMessage[]
}

type PrepareStep = (step: StepToPrepare) => PreparedStep | undefined | PromiseLike<PreparedStep | undefined>

/** What a call is made with: the agent's settings, after its `prepareCall` has had its say. */
export interface CallSettings {
  readonly model: LanguageModel
  readonly tools?: ToolSet
  readonly toolApproval?: Approvals
  readonly repairToolCall?: Repair | undefined
  readonly experimental_repairToolCall?: Repair | undefined
  readonly prepareStep?: PrepareStep
  readonly streamRetries?: undefined
}

/** The settings of an agent as far as they are looked at here; all others are passed on as they are. */
export interface AgentSettings extends CallSettings {
  readonly output?: unknown
  readonly prepareCall?: (call: CallSettings) => CallSettings | undefined | PromiseLike<CallSettings | undefined>
  readonly onError?: unknown
}

interface Loop {
  readonly settings: AgentSettings
}

/**
 * The agent to be copied: the one that was given, or one made from settings. A `ToolLoopAgent` keeps its settings in a
 * property that TypeScript calls private; an agent of another make has none, and its calls could not be made durable.
 */
export function loopOf(given: object): SdkAgent & Loop {
  if ('settings' in given && 'stream' in given) return given as SdkAgent & Loop
  if ('stream' in given || !('model' in given)) {
    throw new HoldfastError('invalid_request', 'aiSdkAgent takes a ToolLoopAgent, or the settings of one with a model')
  }
  return new ToolLoopAgent(given as ConstructorParameters<typeof ToolLoopAgent>[0]) as unknown as SdkAgent & Loop
}

/**
 * A copy of the agent for one run. What its calls are made with goes through `prepare` last, after the user's own
 * `prepareCall`, so that whatever model and tools that chose are the ones that are made durable.
 */
export function preparedCopy(agent: SdkAgent & Loop, prepare: (call: CallSettings) => CallSettings): SdkAgent {
  const { settings } = agent
  const prepareCall = async (call: CallSettings): Promise<CallSettings> => {
    const prepared = (await settings.prepareCall?.(call)) ?? call
    // A stream that is tried again after it has begun would be said twice.
    return { ...prepare(prepared), streamRetries: undefined }
  }
  // Errors are the run's outcome, and reported as that; the SDK prints those that nobody listens for.
  const onError = settings.onError ?? (() => {})
  const copy = Object.create(Object.getPrototypeOf(agent) as object) as SdkAgent
  return Object.assign(copy, agent, { settings: { ...settings, prepareCall, onError } })
}
