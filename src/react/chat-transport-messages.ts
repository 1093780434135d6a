import { HoldfastError, isTerminal, type Message, type Part, type Task, type ThreadSnapshot } from '../client/index.ts'
import { callIds } from './chat-transport-chunks.ts'
import type { ChatMessage, ChatMetadata, ChatUIMessage, ChatUIPart } from './chat-transport-shapes.ts'

/**
 * The messages of a thread as a chat of the AI SDK begins with them: of a list what was said, of a snapshot also the answer
 * that is being written and the prompts that wait. They are the same messages that the transport goes on with.
 */
export function toUIMessages(from: readonly Message[] | ThreadSnapshot): ChatUIMessage[] {
  if (!isSnapshot(from)) return from.flatMap(said)
  const { messages, live } = from
  const answers = liveRuns(from).flatMap((run) => {
    const parts = live.find(({ task }) => task === run.id)?.parts ?? []
    const prompt = run.status === 'pending' ? [prompted(run)] : []
    return run.status === 'running' ? [answerOf(run.id, parts, {})] : prompt
  })
  return [...messages.flatMap(said), ...answers]
}

/** The runs that have not ended, in the order in which they write. */
export function liveRuns({ tasks }: ThreadSnapshot): Task[] {
  const place = (task: Task) => (task.status === 'running' ? -1 : (task.position ?? 0))
  const runs = tasks.filter(({ type, status }) => type === 'run' && !isTerminal(status))
  return runs.toSorted((one, other) => place(one) - place(other))
}

/** The id of the message that a run writes. */
export function answerId(task: string): string {
  return `${task}.assistant`
}

/** A message that a person wrote, as it is sent. */
export function askedBy({ parts }: ChatMessage): { readonly prompt: string } | { readonly parts: readonly Part[] } {
  const asked = parts.map(sentPart)
  const [first, ...others] = asked
  return first?.type === 'text' && others.length === 0 ? { prompt: first.text } : { parts: asked }
}

function isSnapshot(from: readonly Message[] | ThreadSnapshot): from is ThreadSnapshot {
  return 'messages' in from
}

/** What an answer is made of is one step. A chat has no messages of tools: calls are parts of the answer. */
function said({ id, role, parts, finish, task }: Message): ChatUIMessage[] {
  if (role === 'tool') return []
  const metadata: ChatMetadata = { ...(task !== undefined && { task }), ...(finish && { finish }) }
  const step: ChatUIPart[] = role === 'assistant' ? [{ type: 'step-start' }] : []
  return [{ id, role, metadata, parts: [...step, ...uiParts(parts, true)] }]
}

function answerOf(task: string, parts: readonly Part[], metadata: ChatMetadata): ChatUIMessage {
  const shown: ChatUIPart[] = [{ type: 'step-start' }, ...uiParts(parts, false)]
  return { id: answerId(task), role: 'assistant', metadata: { task, ...metadata }, parts: shown }
}

function prompted({ id, input }: Task): ChatUIMessage {
  return { id: `${id}.user`, role: 'user', metadata: { task: id }, parts: uiParts(askedParts(input), true) }
}

/** A prompt is a text, and parts are a list. */
function askedParts(input: unknown): readonly Part[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }]
  return Array.isArray(input) ? (input as Part[]) : [{ type: 'data', name: 'input', value: input }]
}

function uiParts(parts: readonly Part[], isWhole: boolean): ChatUIPart[] {
  const calls = callIds(parts)
  return parts.map((part, at) =>
    uiPart(part, { at, toolCallId: calls[at] ?? '', isWhole, isLast: at === parts.length - 1 }),
  )
}

interface Place {
  readonly at: number
  readonly toolCallId: string
  /** Whether nothing is added to the message any more. */
  readonly isWhole: boolean
  readonly isLast: boolean
}

function uiPart(part: Part, { at, toolCallId, isWhole, isLast }: Place): ChatUIPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, state: isLast && !isWhole ? 'streaming' : 'done' }
    case 'tool':
      return uiTool(part, toolCallId, isWhole)
    case 'file': {
      const { mediaType, url, name } = part
      return { type: 'file', mediaType, url, ...(name !== undefined && { filename: name }) }
    }
    case 'data':
      return { type: `data-${part.name}`, id: `${at}`, data: part.value }
  }
}

function uiTool(part: Extract<Part, { type: 'tool' }>, toolCallId: string, isWhole: boolean): ChatUIPart {
  const { name, input, output, error } = part
  const call = { type: `tool-${name}`, toolCallId, input, providerExecuted: true } as const
  if (error !== undefined) return { ...call, state: 'output-error', errorText: error }
  if (output === undefined && !isWhole) return { ...call, state: 'input-available' }
  return { ...call, state: 'output-available', output }
}

interface Sent {
  readonly text: string
  readonly mediaType: string
  readonly url: string
  readonly filename?: string
  readonly data: unknown
}

function sentPart(part: { readonly type: string }): Part {
  const { type } = part
  const { text, mediaType, url, filename, data } = part as unknown as Sent
  if (type === 'text') return { type, text }
  if (type === 'file') return { type, mediaType, url, ...(filename !== undefined && { name: filename }) }
  if (type.startsWith('data-')) return { type: 'data', name: type.slice('data-'.length), value: data }
  throw new HoldfastError('invalid_request', `A message has a part of type ${type}. Send text, files and data`)
}
