import { type Context, context as contexts, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { HoldfastError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { ParentContext } from '../core/lineage.ts'
import { isStatedEnding, type Outcome, statedOutcome } from '../core/outcome.ts'
import { isRun, type TaskRecord } from '../core/task.ts'
import type { AgentContext, AgentFunction } from './agent.ts'
import { outcomeOf } from './agent-outcome.ts'
import type { Ambient } from './ambient.ts'
import { inputOf } from './checked-input.ts'
import { encode } from './encode.ts'
import type { Execution } from './execution.ts'
import type { StandardSchema } from './standard-schema.ts'
import { isGenerator, putOutAll } from './yields.ts'

export interface AgentCall {
  readonly execution: Execution
  readonly context: AgentContext
  /** What there is to call; nothing if its agent is not registered here. */
  readonly run: AgentFunction | undefined
  /** What makes its input of what was stored, if its agent has one. */
  readonly schema: StandardSchema | undefined
  readonly ambient: Ambient
  readonly limits: Limits
}

/** What the code of a task came to, and what it threw, if it did. */
export interface Called {
  readonly outcome: Outcome
  readonly thrown?: unknown
}

/** Calls the code of a task, and says what it came to, whatever it did. Never rejects. */
export async function callAgent(call: AgentCall): Promise<Called> {
  const { execution, ambient, limits } = call
  const { record } = execution
  const attributes = {
    'holdfast.task': record.id,
    'holdfast.agent': record.agent ?? '',
    'holdfast.attempt': record.attempt,
  }
  const tracer = trace.getTracer('holdfast')
  const span = tracer.startSpan(`task ${record.type}`, { attributes }, traceOf(record))
  try {
    const scope = { task: record.id, thread: record.key, lineage: lineageIn(record) }
    const returned = await ambient.run(scope, () => run(call))
    if (isStatedEnding(returned)) return { outcome: statedOutcome(returned) }
    execution.steps.finish()
    return { outcome: completed(returned, limits.resultBytes) }
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR })
    return { outcome: outcomeOf(error), thrown: error }
  } finally {
    span.end()
  }
}

async function run({ execution, context, run: code, schema }: AgentCall): Promise<unknown> {
  const { record } = execution
  if (!code) throw new HoldfastError('unknown_agent', `No agent named ${record.agent} is registered here`)
  const input = inputOf(schema, record.agent ?? '', record)
  // The input is waited for only if a schema makes it, so that all other code begins within the turn of its start.
  const returned: unknown = await code(context, (schema ? await input : input) as never)
  return isGenerator(returned) ? putOutAll(execution, context, returned) : returned
}

/** Where the span of a task belongs: to the trace that asked for it, if one did. */
function traceOf({ traceparent }: TaskRecord): Context {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return contexts.active()
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function completed(returned: unknown, bytesMax: number): Outcome {
  if (returned === undefined) return { status: 'completed' }
  return { status: 'completed', result: encode(returned, { what: 'The result', bytesMax }) }
}

/** What is spawned inside a task inherits it as parent, with its run and agent. */
function lineageIn(record: TaskRecord): ParentContext {
  const run = isRun(record) ? record.id : record.parent?.run
  return {
    task: record.id,
    ...(run !== undefined && { run }),
    ...(record.agent !== undefined && { agent: record.agent }),
  }
}
