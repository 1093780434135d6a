import type { ModelMessage, Output, ToolLoopAgentSettings, ToolSet } from 'ai'
import { HoldfastError } from '../core/errors.ts'
import type { Agent, AgentContext } from '../runtime/agent.ts'
import type { BackgroundTasks } from '../runtime/background-tasks.ts'
import type { AfterCrash } from './after-crash.ts'
import { type EndedStep, loopOf, preparedCopy, type SdkAgent } from './agent-settings.ts'
import { backgroundToolSet, tasksNote } from './background-tools.ts'
import { modelHistory } from './history.ts'
import { ownValue } from './own-value.ts'
import { SdkLoop } from './sdk-loop.ts'
import { asParts, userContent } from './user-content.ts'

/** What holds for one tool. */
export interface ToolPolicy {
  readonly afterCrash?: AfterCrash
}

/** How an agent of the AI SDK is run. */
export interface AiSdkAgentOptions extends Omit<Agent, 'run'> {
  /** What holds for the tools, by name. */
  readonly tools?: Readonly<Record<string, ToolPolicy>>
  /** What becomes of an interrupted call of a tool that states nothing. `ask` unless given. */
  readonly afterCrash?: AfterCrash
  /** The call options of an agent that has a `callOptionsSchema`. Must be the same for the same input. */
  readonly callOptions?: (input: unknown, ctx: AgentContext) => unknown
  /** Gives the agent the tools for background tasks, and shows it those of its thread before each step. */
  readonly backgroundTasks?: (ctx: AgentContext) => BackgroundTasks
}

/** The result of `stream`, as far as it is looked at here. */
interface Streamed {
  readonly stream: AsyncIterable<{ readonly type: string; readonly error?: unknown }>
  readonly steps: PromiseLike<readonly EndedStep[]>
  readonly text: PromiseLike<string>
  readonly output: PromiseLike<unknown>
}

/**
 * An agent of the AI SDK as an agent of Holdfast: a `ToolLoopAgent`, or the settings of one. Each of its model and tool calls is
 * a step, so after a crash it goes on where it was; what it says, thinks, calls and uses becomes events. Its result is its
 * last text, or its structured output.
 */
export function aiSdkAgent(agent: SdkAgent, options?: AiSdkAgentOptions): Agent
export function aiSdkAgent<
  CallOptions = never,
  Tools extends ToolSet = ToolSet,
  Context extends Record<string, unknown> = Record<string, unknown>,
  Structured extends Output.Output = never,
>(settings: ToolLoopAgentSettings<CallOptions, Tools, Context, Structured>, options?: AiSdkAgentOptions): Agent
export function aiSdkAgent(given: object, options: AiSdkAgentOptions = {}): Agent {
  const agent = loopOf(given)
  const { tools: _policies, afterCrash: _default, callOptions: _call, backgroundTasks, ...about } = options
  const run = async (ctx: AgentContext, input: unknown): Promise<unknown> => {
    const plugin = backgroundTasks?.(ctx)
    if (!plugin) return runLoop({ agent, options, ctx, input })
    const { thread } = ctx
    await plugin.onRunStart({ thread, ctx })
    try {
      return await runLoop({ agent, options, ctx, input, plugin })
    } finally {
      await plugin.onRunEnd({ thread, ctx })
    }
  }
  return { ...about, run }
}

interface LoopCall {
  readonly agent: ReturnType<typeof loopOf>
  readonly options: AiSdkAgentOptions
  readonly ctx: AgentContext
  readonly input: unknown
  readonly plugin?: BackgroundTasks
}

async function runLoop({ agent, options, ctx, input, plugin }: LoopCall): Promise<unknown> {
  const background = plugin ? backgroundToolSet(ctx, plugin) : {}
  const loop = new SdkLoop({
    ctx,
    policyOf: (name) => policyOf(options, background, name),
    ...(plugin && { note: () => tasksNote(ctx, plugin) }),
  })
  const copy = preparedCopy(agent, (call) =>
    loop.prepare(plugin ? { ...call, tools: { ...background, ...call.tools } } : call),
  )
  const messages = await messagesOf(ctx, input, { ...background, ...(agent.tools as ToolSet | undefined) })
  const callOptions = options.callOptions && { options: options.callOptions(input, ctx) }
  try {
    const call = { messages, abortSignal: ctx.signal, ...callOptions }
    const result = (await copy.stream(call as never)) as Streamed
    return await outcomeOf(loop, result, agent.settings.output !== undefined)
  } finally {
    await loop.openCalls.ended()
  }
}

/** What the tools for background tasks do to the world are steps of their own, so they may be called again. */
function policyOf(
  { tools = {}, afterCrash = 'ask' }: AiSdkAgentOptions,
  background: ToolSet,
  name: string,
): AfterCrash {
  return ownValue(tools, name)?.afterCrash ?? (Object.hasOwn(background, name) ? 'retry' : afterCrash)
}

async function outcomeOf(loop: SdkLoop, result: Streamed, hasOutput: boolean): Promise<unknown> {
  let failure: { readonly error: unknown } | undefined
  for await (const part of result.stream) {
    if (part.type === 'error') failure ??= { error: part.error }
  }
  if (failure) throw failure.error
  const last = (await result.steps).at(-1)
  if (last) await loop.tellUnexecuted(last)
  return hasOutput ? result.output : result.text
}

/**
 * A run answers its thread's conversation, of which its own prompt is the last; any other task, what it was given, after
 * what was said in those it continues.
 */
async function messagesOf(ctx: AgentContext, input: unknown, tools: ToolSet): Promise<ModelMessage[]> {
  const conversation = await ctx.messages()
  const isRun = conversation.some((message) => message.task === ctx.taskId)
  const messages = await modelHistory(isRun ? conversation : await ctx.history(), tools)
  const content = isRun || input === undefined ? [] : userContent(asParts(input))
  if (content.length > 0) return [...messages, { role: 'user', content }]
  if (isRun && messages.at(-1)?.role === 'user') return messages
  throw new HoldfastError('invalid_input', 'There is nothing to answer: give the agent a prompt, parts or an input')
}
