import { HoldfastError } from '../core/errors.ts'
import { type ThreadKey, threadOf } from '../core/id.ts'
import { customItem, type Inbox } from '../core/inbox.ts'
import type { Message } from '../core/message.ts'
import { encodeKey } from '../core/step.ts'
import type { Task } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { AgentContext, SpawnOptions } from './agent.ts'
import type { Ambient } from './ambient.ts'
import type { Clock } from './clock.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import type { Execution } from './execution.ts'
import type { Logger } from './logger.ts'
import type { Signals } from './signals.ts'
import { StepTaker } from './step-taker.ts'
import { Waits } from './waits.ts'
import type { Writer } from './writer.ts'

export interface ContextParts {
  readonly writer: Writer
  readonly store: Store
  readonly ambient: Ambient
  readonly clock: Clock
  readonly signals: Signals
  readonly log: Logger
  readonly stepBytesMax: number
  ownerOf(execution: Execution): Inbox | undefined
  spawn(execution: Execution, taker: StepTaker, options: SpawnOptions): Promise<Task>
}

const messagePage = 1000

/** What one execution hands to its agent. */
export function createContext(parts: ContextParts, execution: Execution): AgentContext {
  const { writer, ambient, stepBytesMax, store } = parts
  const taker = new StepTaker({ execution, writer, ambient, stepBytesMax })
  const waits = new Waits({ ...parts, execution, taker })
  const owner = parts.ownerOf(execution)
  return {
    signal: execution.signal,
    taskId: execution.task,
    thread: threadOf(execution.thread),
    attempt: execution.record.attempt,
    log: taskLog(parts.log, execution),
    ...(owner && {
      owner: { send: (name: string, payload?: unknown) => owner.send(customItem(execution.task, name, payload)) },
    }),
    emit: (name, payload) => execution.emit('custom', { name, ...(payload !== undefined && { payload }) }),
    say: (text) => execution.emit('text.delta', { text }),
    think: (text) => execution.emit('thinking', { text }),
    answer: (output) => execution.emit('answer', { output }),
    progress: (value, note) => execution.emit('progress', checkedProgress(value, note)),
    usage: (usage) => execution.emit('usage', usage),
    step: ((key: string, fn: () => unknown) => taker.function(key, fn)) as AgentContext['step'],
    tool: ((name: string, input: unknown, fn: (call: { id: string }) => unknown) =>
      callTool(execution, taker, name, input, fn)) as AgentContext['tool'],
    sleep: (ms) => waits.sleep(ms),
    spawn: (options) => parts.spawn(execution, taker, options),
    wait: (task) => waits.end(task),
    receive: (options) => waits.receive(options),
    messages: () => conversation(store, execution.thread, execution.record.startedSeq ?? 0),
  }
}

/** A tool call is a step that shows itself: call and result are emitted inside it, and stand or fall with its record. */
async function callTool(
  execution: Execution,
  taker: StepTaker,
  name: string,
  input: unknown,
  fn: (call: { id: string }) => unknown,
): Promise<unknown> {
  const text = encode(input ?? null, { what: `The input of tool ${name}`, bytesMax: Number.POSITIVE_INFINITY })
  const step = { kind: 'tool', key: encodeKey(name), input: digest(text) } as const
  return taker.take(step, async (open, outer) => {
    const id = `${execution.task}:${open.path}`
    return taker.inside(open, outer, { call: id }, async () => {
      await execution.emit('tool.call', { id, name, input })
      try {
        const output = await fn({ id })
        await execution.emit('tool.result', { id, ...(output !== undefined && { output }) })
        return output
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        await execution.emit('tool.result', { id, error: message })
        throw error
      }
    })
  })
}

async function conversation(store: Store, key: ThreadKey, upTo: number): Promise<Message[]> {
  const messages: Message[] = []
  for (let after = 0; ; ) {
    const page = await store.messages(key, { after, upTo, limit: messagePage })
    messages.push(...page)
    after = page.at(-1)?.seq ?? after
    if (page.length < messagePage) return messages
  }
}

function checkedProgress(value: number, note: string | undefined): { value: number; note?: string } {
  if (!(value >= 0 && value <= 1)) throw new HoldfastError('invalid_request', 'Progress is a number from 0 to 1')
  return { value, ...(note !== undefined && { note }) }
}

function taskLog(log: Logger, execution: Execution): Logger {
  const about = { task: execution.task, thread: threadOf(execution.thread) }
  return {
    debug: (facts, message) => log.debug({ ...about, ...facts }, message),
    info: (facts, message) => log.info({ ...about, ...facts }, message),
    warn: (facts, message) => log.warn({ ...about, ...facts }, message),
    error: (facts, message) => log.error({ ...about, ...facts }, message),
  }
}
