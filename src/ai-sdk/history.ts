import type { ModelMessage, ToolSet } from 'ai'
import type { Message, Part } from '../core/message.ts'
import { ownValue } from './own-value.ts'
import { filePart, jsonText, textParts, userContent } from './user-content.ts'

type AssistantContent = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>
type ToolContent = Extract<ModelMessage, { role: 'tool' }>['content']
type ToolPart = Extract<Part, { type: 'tool' }>
type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output']
type ToModelOutput = (about: object) => ToolOutput | PromiseLike<ToolOutput>

/**
 * The conversation as a model is given it: partial and cancelled turns too, each tool call with its result. Left out are
 * reasoning, and turns that were cancelled before they started.
 */
export async function modelHistory(messages: readonly Message[], tools: ToolSet = {}): Promise<ModelMessage[]> {
  const unstarted = unstartedTasks(messages)
  const history = new History(tools)
  for (const message of messages) {
    if (message.task !== undefined && unstarted.has(message.task)) continue
    await history.add(message)
  }
  return history.messages
}

/** A cancel before the start writes both messages of the turn in a row; whatever has started has events in between. */
function unstartedTasks(messages: readonly Message[]): Set<string> {
  const tasks = new Set<string>()
  for (const [at, { role, finish, parts, seq, task }] of messages.entries()) {
    const before = messages[at - 1]
    const isEmpty = role === 'assistant' && finish === 'cancelled' && parts.length === 0
    if (isEmpty && task !== undefined && before?.task === task && before.seq === seq - 1) tasks.add(task)
  }
  return tasks
}

class History {
  readonly messages: ModelMessage[] = []
  readonly #tools: ToolSet
  #callCount = 0

  constructor(tools: ToolSet) {
    this.#tools = tools
  }

  async add({ role, parts }: Message): Promise<void> {
    if (role === 'assistant') return this.#assistant(parts)
    // What the runtime says, such as the results that woke the thread. Many models take a system message at the start only.
    const content = userContent(parts)
    if (content.length > 0) this.messages.push({ role: 'user', content })
  }

  /** Calls that follow each other were one step of the model or may as well have been; what is said after them is the next. */
  async #assistant(parts: readonly Part[]): Promise<void> {
    let said: AssistantContent = []
    let results: ToolContent = []
    const flush = () => {
      if (said.length > 0) this.messages.push({ role: 'assistant', content: said })
      if (results.length > 0) this.messages.push({ role: 'tool', content: results })
      said = []
      results = []
    }
    for (const part of parts) {
      if (part.type === 'tool') {
        const { call, result } = await this.#tool(part)
        said.push(call)
        results.push(result)
        continue
      }
      const content = assistantParts(part)
      if (content.length > 0 && results.length > 0) flush()
      said.push(...content)
    }
    flush()
  }

  /** Providers are strict about the form of ids and names, so a call gets a new id. */
  async #tool(part: ToolPart): Promise<{ call: AssistantContent[number]; result: ToolContent[number] }> {
    this.#callCount += 1
    const about = { toolCallId: `call_${this.#callCount}`, toolName: toolName(part.name) }
    const output = await this.#output(part, about.toolCallId)
    return {
      call: { type: 'tool-call', ...about, input: typeof part.input === 'object' ? (part.input ?? {}) : {} },
      result: { type: 'tool-result', ...about, output },
    }
  }

  async #output({ name, input, output, error }: ToolPart, toolCallId: string): Promise<ToolOutput> {
    if (error !== undefined) return { type: 'error-text', value: error }
    const tool = ownValue(this.#tools, name) as { readonly toModelOutput?: ToModelOutput } | undefined
    const toModelOutput = tool?.toModelOutput
    if (toModelOutput) return toModelOutput({ toolCallId, input, output })
    if (typeof output === 'string') return { type: 'text', value: output }
    return { type: 'json', value: (output ?? null) as Extract<ToolOutput, { type: 'json' }>['value'] }
  }
}

const nameLengthMax = 64

/** What others called a tool, in this thread or another process, may be a name that no tool of a model can have. */
function toolName(name: string): string {
  return name.slice(0, nameLengthMax).replace(/[^A-Za-z0-9_-]/g, '_') || 'tool'
}

function assistantParts(part: Part): AssistantContent {
  switch (part.type) {
    case 'text':
      return textParts(part.text)
    case 'file':
      return [filePart(part) ?? []].flat()
    case 'data':
      return textParts(jsonText(part.value))
    default:
      return []
  }
}
