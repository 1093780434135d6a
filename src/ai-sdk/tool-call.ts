import { AsyncLocalStorage } from 'node:async_hooks'
import type { AgentContext } from '../runtime/agent.ts'

/** The tool call that code runs in. */
export interface ToolCall {
  readonly name: string
  /** The same in every attempt at this call, and of no other: what makes an effect outside idempotent. */
  readonly key: string
  /** It was begun before, and nobody knows how far it got. */
  readonly isRepeated: boolean
  /** What the agent's task works with. Steps taken through it are part of the tool call. */
  readonly ctx: AgentContext
}

const calls = new AsyncLocalStorage<ToolCall>()

/** The call of a tool of an `aiSdkAgent` that this code runs in; undefined anywhere else. */
export function toolCall(): ToolCall | undefined {
  return calls.getStore()
}

export function inToolCall<Value>(call: ToolCall, fn: () => Value): Value {
  return calls.run(call, fn)
}
