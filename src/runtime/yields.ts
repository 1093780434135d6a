import type { Part } from '../core/message.ts'
import type { AgentContext } from './agent.ts'
import type { Execution } from './execution.ts'
import { isPart } from './request.ts'

type Generator = AsyncGenerator<unknown, unknown>

export function isGenerator(value: unknown): value is Generator {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}

/**
 * Puts out what a generator yields, each when there is room for it, and gives what it returns. It is stopped at its next yield
 * once its task is, and may tidy up: in `finally`, as one that is left because what it yields is refused.
 */
export async function putOutAll(execution: Execution, context: AgentContext, generator: Generator): Promise<unknown> {
  try {
    for (;;) {
      const { done, value } = await generator.next()
      if (done || execution.isClosed) return value
      await putOut(context, value)
      context.signal.throwIfAborted()
    }
  } finally {
    await generator.return?.(undefined)
  }
}

/** A string is said, a part becomes the event that it is made of, and anything else is a custom event. */
function putOut(context: AgentContext, value: unknown): Promise<void> {
  if (value === undefined) return Promise.resolve()
  if (typeof value === 'string') return context.say(value)
  return isPart(value) ? putOutPart(context, value) : context.emit('yielded', value)
}

function putOutPart(context: AgentContext, part: Part): Promise<void> {
  switch (part.type) {
    case 'text':
      return context.say(part.text)
    case 'reasoning':
      return context.think(part.text)
    case 'tool':
    case 'file':
      return context.show(part)
    case 'data':
      return context.emit(part.name, part.value)
  }
}
