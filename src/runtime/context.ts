import { type Principal, principalOf, type ThreadKey, threadOf } from '../core/id.ts'
import { customItem } from '../core/inbox-item.ts'
import type { Limits } from '../core/limits.ts'
import type { Message } from '../core/message.ts'
import { errorText } from '../core/outcome.ts'
import { encodeKey } from '../core/step.ts'
import type { Store } from '../stores/store.ts'
import type { AgentContext, QuestionOptions, ShownPart, StepOptions, ToolOptions } from './agent.ts'
import type { Ambient } from './ambient.ts'
import { askPeople } from './asking.ts'
import { checkedProgress, checkedText, checkedUsage, encodable } from './checked-emits.ts'
import type { Clock } from './clock.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import type { Execution } from './execution.ts'
import type { Logger } from './logger.ts'
import type { Owners } from './owners.ts'
import { sendInside } from './sending.ts'
import type { Signals } from './signals.ts'
import type { Spawning } from './spawning.ts'
import { StepTaker } from './step-taker.ts'
import { continuedHistory } from './task-history.ts'
import { Waits } from './waits.ts'
import type { Writer } from './writer.ts'

export interface ContextParts {
  readonly writer: Writer
  readonly store: Store
  readonly ambient: Ambient
  readonly clock: Clock
  readonly signals: Signals
  readonly log: Logger
  readonly owners: Owners
  readonly spawning: Spawning
  readonly limits: Limits
}

const messagePage = 1000

/**
 * What one execution hands to its agent. Its functions are bound to it, because an agent may take them apart; what is
 * seldom used is bound at each use, because many tasks wait at once and each keeps its context.
 */
export class TaskContext implements AgentContext {
  readonly signal: AbortSignal
  readonly taskId: AgentContext['taskId']
  readonly thread: AgentContext['thread']
  declare readonly agent?: string
  readonly asked: AgentContext['asked']
  readonly attempt: number
  declare readonly traceparent?: string
  readonly emit: AgentContext['emit']
  readonly say: AgentContext['say']
  readonly think: AgentContext['think']
  readonly step: AgentContext['step']
  readonly tool: AgentContext['tool']
  readonly sleep: AgentContext['sleep']
  readonly spawn: AgentContext['spawn']
  readonly wait: AgentContext['wait']
  readonly receive: AgentContext['receive']
  readonly messages: AgentContext['messages']
  readonly #parts: ContextParts
  readonly #execution: Execution
  #askers: Map<string, string> | undefined

  constructor(parts: ContextParts, execution: Execution) {
    this.#parts = parts
    this.#execution = execution
    const { record } = execution
    const { writer, ambient, clock, limits, store, signals } = parts
    const taker = new StepTaker({ execution, writer, ambient, clock, limits })
    const waits = new Waits({ execution, taker, writer, store, clock, signals })
    this.signal = execution.signal
    this.taskId = execution.task
    this.thread = threadOf(execution.thread)
    if (record.agent !== undefined) this.agent = record.agent
    this.asked = record.asked
    this.attempt = record.attempt
    if (record.traceparent !== undefined) this.traceparent = record.traceparent
    this.emit = (given, payload) => {
      const name = checkedText('The name of an event', given)
      return execution.emit(
        'custom',
        payload === undefined ? { name } : { name, payload: encodable('The payload', payload) },
      )
    }
    this.say = (text) => execution.emit('text.delta', { text: checkedText('What is said', text) })
    this.think = (text) => execution.emit('thinking', { text: checkedText('What is thought', text) })
    this.step = ((key: string, fn: () => unknown, options: StepOptions = {}) =>
      taker.function(key, fn, options.input)) as AgentContext['step']
    this.tool = ((name: string, input: unknown, fn: ToolFunction, options: ToolOptions = {}) =>
      callTool(execution, taker, { name, input, ...options }, fn)) as AgentContext['tool']
    this.sleep = (ms) => waits.sleep(ms)
    this.spawn = (options) => parts.spawning.spawnInside(execution, taker, options)
    this.wait = (task) => waits.end(task)
    this.receive = (options) => waits.receive(options)
    this.messages = () => taker.read(() => conversation(store, execution.thread, record.startedSeq ?? 0))
  }

  get answer(): AgentContext['answer'] {
    const execution = this.#execution
    return (output) => execution.emit('answer', { output: encodable('The answer', output) })
  }

  get progress(): AgentContext['progress'] {
    const execution = this.#execution
    return (value, note) => execution.emit('progress', checkedProgress(value, note))
  }

  get usage(): AgentContext['usage'] {
    const execution = this.#execution
    return (usage) => execution.emit('usage', checkedUsage(usage))
  }

  get show(): AgentContext['show'] {
    const execution = this.#execution
    return (part) => showPart(execution, part)
  }

  /** Most tasks never ask, so what it takes is made when one does. */
  get ask(): AgentContext['ask'] {
    const execution = this.#execution
    const { writer, ambient, clock, limits, store, signals } = this.#parts
    const taker = new StepTaker({ execution, writer, ambient, clock, limits })
    this.#askers ??= new Map()
    const parts = { execution, taker, writer, store, clock, signals, askers: this.#askers }
    return (question: QuestionOptions) => askPeople(parts, question)
  }

  get send(): AgentContext['send'] {
    const execution = this.#execution
    const { writer, ambient, clock, limits, store } = this.#parts
    const taker = new StepTaker({ execution, writer, ambient, clock, limits })
    return (task, message) => sendInside({ execution, taker, writer, store, limits }, task, message)
  }

  get history(): AgentContext['history'] {
    const { store } = this.#parts
    return () => continuedHistory(store, this.#execution.record)
  }

  get principal(): Principal {
    return principalOf(this.#execution.thread)
  }

  get log(): Logger {
    return taskLog(this.#parts.log, this.#execution)
  }

  /** The owner may set another inbox while the task runs. */
  get owner(): AgentContext['owner'] {
    const task = this.#execution.task
    const inbox = this.#parts.owners.of(task)
    if (!inbox) return undefined
    return { send: (name, payload) => inbox.send(customItem(task, name, payload)) }
  }
}

function showPart(execution: Execution, part: ShownPart): Promise<void> {
  if (part.type === 'file') {
    const { mediaType, name, url } = part
    return execution.emit('file', { mediaType, ...(name !== undefined && { name }), url })
  }
  const { id, name, input, output, error } = part
  if (output === undefined && error === undefined) return execution.emit('tool.call', { id, name, input })
  return execution.emit('tool.result', {
    id,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  })
}

type ToolFunction = (call: { id: string }) => unknown

interface CalledTool extends ToolOptions {
  readonly name: string
  readonly input: unknown
}

/** A tool call is a step that shows itself: call and result are emitted inside it, and stand or fall with its record. */
async function callTool(
  execution: Execution,
  taker: StepTaker,
  { name, input, key }: CalledTool,
  fn: ToolFunction,
): Promise<unknown> {
  const text = encode(input ?? null, { what: `The input of tool ${name}`, bytesMax: Number.POSITIVE_INFINITY })
  const isInOrder = key !== undefined && ({ isInOrder: true } as const)
  const step = { kind: 'tool', key: encodeKey(key ?? name), input: digest(text), ...isInOrder } as const
  return taker.take(step, async (open, outer) => {
    const id = `${execution.task}:${open.path}`
    return taker.inside(open, outer, { call: id }, async () => {
      await execution.emit('tool.call', { id, name, input })
      try {
        const output = await fn({ id })
        const shown = output === undefined ? {} : { output: encodable(`The output of tool ${name}`, output) }
        await execution.emit('tool.result', { id, ...shown })
        return output
      } catch (error) {
        // A call that is cut off because the task is stopped is open when the task ends, and closed by that.
        const isCutOff = execution.signal.aborted && error === execution.signal.reason
        if (!isCutOff) await execution.emit('tool.result', { id, error: errorText(error) })
        throw error
      }
    })
  })
}

async function conversation(store: Store, key: ThreadKey, upTo: number): Promise<Message[]> {
  const messages: Message[] = []
  for (let after = 0; ; ) {
    const page = await store.messages(key, { after, upTo, limit: messagePage })
    messages.push(...page.messages)
    if (page.cursor === undefined) return messages
    after = page.cursor
  }
}

function taskLog(log: Logger, execution: Execution): Logger {
  const { traceparent } = execution.record
  const about = {
    task: execution.task,
    thread: threadOf(execution.thread),
    ...(traceparent !== undefined && { traceparent }),
  }
  return {
    debug: (facts, message) => log.debug({ ...about, ...facts }, message),
    info: (facts, message) => log.info({ ...about, ...facts }, message),
    warn: (facts, message) => log.warn({ ...about, ...facts }, message),
    error: (facts, message) => log.error({ ...about, ...facts }, message),
  }
}
