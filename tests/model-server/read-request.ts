import type { ModelRequest, RequestMessage } from './script.ts'

type Json = Readonly<Record<string, unknown>>
type Read = Omit<ModelRequest, 'number'>

export function readRequest(endpoint: ModelRequest['endpoint'], body: Json): Read {
  const tools = list(body['tools']).map((tool) =>
    String((tool['function'] as Json | undefined)?.['name'] ?? tool['name']),
  )
  const messages =
    endpoint === 'chat' ? list(body['messages']).map(chatMessage) : responsesMessages(list(body['input']))
  return { endpoint, model: String(body['model']), messages, tools }
}

function chatMessage(message: Json): RequestMessage {
  const calls = list(message['tool_calls']).map((call) => {
    const about = call['function'] as Json
    return { id: String(call['id']), name: String(about['name']), input: String(about['arguments']) }
  })
  const text = textOf(message['content'])
  return { role: roleOf(String(message['role'])), text, ...(calls.length > 0 && { calls }) }
}

/** Calls and their outputs are items of their own; calls that follow each other are one step. */
function responsesMessages(items: readonly Json[]): RequestMessage[] {
  const messages: RequestMessage[] = []
  for (const item of items) {
    if (item['type'] === 'function_call') addCall(messages, item)
    else if (item['type'] === 'function_call_output') messages.push({ role: 'tool', text: textOf(item['output']) })
    else if (item['role'] !== undefined) {
      messages.push({ role: roleOf(String(item['role'])), text: textOf(item['content']) })
    }
  }
  return messages
}

function addCall(messages: RequestMessage[], item: Json): void {
  const call = { id: String(item['call_id']), name: String(item['name']), input: String(item['arguments']) }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', text: '', calls: [call] })
  else messages[messages.length - 1] = { ...last, calls: [...(last.calls ?? []), call] }
}

function roleOf(role: string): RequestMessage['role'] {
  return role === 'developer' ? 'system' : (role as RequestMessage['role'])
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => String(part['text'] ?? `[${String(part['type'])}]`))
    .join('')
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}
