import type { ToolSet } from 'ai'
import { errorText } from '../core/outcome.ts'
import type { AgentContext } from '../runtime/agent.ts'
import { type AfterCrash, intend } from './after-crash.ts'
import type { OpenCalls } from './open-calls.ts'
import { inToolCall } from './tool-call.ts'

export interface ToolSurroundings {
  readonly ctx: AgentContext
  readonly openCalls: OpenCalls
  readonly policyOf: (tool: string) => AfterCrash
  /** Told of every call that is executed here, by its id. */
  readonly onExecuted: (toolCallId: string) => void
}

type AnyTool = ToolSet[string]
type Execute = (input: unknown, options: { readonly toolCallId: string }) => unknown

/**
 * Tools whose calls are steps. Those without a function of their own, which providers and clients execute, are left as they
 * are.
 */
export function durableTools(around: ToolSurroundings, tools: ToolSet): ToolSet {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, durableTool(around, name, tool)]))
}

function durableTool(around: ToolSurroundings, name: string, tool: AnyTool): AnyTool {
  const execute = (tool as { readonly execute?: Execute }).execute
  if (!execute) return tool
  const durable: Execute = (input, options) => callTool(around, name, input, options, execute.bind(tool))
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as AnyTool, tool, { execute: durable })
}

async function callTool(
  around: ToolSurroundings,
  name: string,
  input: unknown,
  options: Parameters<Execute>[1],
  execute: Execute,
): Promise<unknown> {
  const { ctx, openCalls, policyOf, onExecuted } = around
  onExecuted(options.toolCallId)
  const perform = async ({ id: key }: { readonly id: string }) => {
    const { isRepeated, isDone } = await intend({ ctx, name, input, policy: policyOf(name) })
    if (isDone) return 'The process stopped before the tool could answer. A person says that it had its effect.'
    return inToolCall({ name, key, isRepeated, ctx }, () => lastOf(ctx, key, execute(input, options)))
  }
  // The SDK begins calls in the order of the recorded answer, so by that order each keeps its key, equal ones too.
  const called = ctx.tool(name, input, perform, { key: name })
  try {
    return await openCalls.add(called)
  } catch (error) {
    throw asRecorded(error)
  }
}

/** A tool may give its result bit by bit: the last one counts, those before it are shown. */
async function lastOf(ctx: AgentContext, id: string, result: unknown): Promise<unknown> {
  if (!isIterable(result)) return result
  let last: { readonly output: unknown } | undefined
  for await (const output of result) {
    if (last) await ctx.emit('tool_preliminary', { id, output: last.output })
    last = { output }
  }
  return last?.output
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** A model is told an error's name and message: as it meets them on replay, where nothing else is left of the error. */
export function asRecorded(error: unknown): Error {
  const name = error instanceof Error ? String(error.name) : 'Error'
  return Object.assign(new Error(errorText(error), { cause: error }), { name })
}
