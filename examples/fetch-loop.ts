// A loop of plain `fetch` calls to an OpenAI-compatible API, with a tool, as an agent of Holdfast.
//
//   OPENAI_API_KEY=… npx holdfast serve --config examples/fetch-loop.ts
//
// Each call of the model and each call of a tool is a step: after a crash the loop runs again from the top, and finished calls
// answer from the record, so none is paid for twice. A stream that was cut in the middle is asked for again, and what it had said is
// dropped. A cancel aborts the request.

import type { AgentContext, Message } from 'holdfast'

const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY = '', OPENAI_MODEL = 'gpt-5-mini' } = process.env

interface Call {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: Call[] }
  | { role: 'tool'; content: string; tool_call_id: string }

const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
]

function weather({ city }: { city: string }) {
  return { city, degrees: 7 + city.length }
}

async function assistant(ctx: AgentContext): Promise<string> {
  const messages: ChatMessage[] = [{ role: 'system', content: 'You are brief.' }, ...(await ctx.messages()).map(toChat)]
  for (;;) {
    // The input is checked on replay: a changed program does not go on from a record that was made of other questions.
    const reply = await ctx.step('model', () => ask(ctx, messages), { input: messages })
    messages.push(reply)
    if (!reply.tool_calls) return reply.content
    for (const { id, function: called } of reply.tool_calls) {
      const input = JSON.parse(called.arguments) as { city: string }
      const output = await ctx.tool(called.name, input, () => weather(input))
      messages.push({ role: 'tool', content: JSON.stringify(output), tool_call_id: id })
    }
  }
}

/** One call of the model. What it says is shown as it comes. */
async function ask(ctx: AgentContext, messages: ChatMessage[]): Promise<Extract<ChatMessage, { role: 'assistant' }>> {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: OPENAI_MODEL, stream: true, messages, tools }),
    signal: ctx.signal,
  })
  if (!response.ok || !response.body) throw new Error(`The model answered ${response.status}: ${await response.text()}`)
  let content = ''
  let isDone = false
  const calls: Call[] = []
  for await (const chunk of chunks(response.body)) {
    const [choice] = chunk.choices
    for (const { index, id, function: part } of choice?.delta.tool_calls ?? []) {
      calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } }
      const call = calls[index]
      call.function.name += part.name ?? ''
      call.function.arguments += part.arguments ?? ''
    }
    if (choice?.delta.content) await ctx.say(choice.delta.content)
    content += choice?.delta.content ?? ''
    isDone ||= Boolean(choice?.finish_reason)
  }
  if (!isDone) throw new Error('The answer of the model broke off')
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

interface Chunk {
  choices: {
    delta: {
      content?: string | null
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[]
    }
    finish_reason?: string | null
  }[]
}

/** The chunks of a stream of server-sent events. */
async function* chunks(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Chunk, undefined> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length)) as Chunk
    }
  }
}

function toChat({ role, parts }: Message): ChatMessage {
  const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { role: role === 'assistant' ? 'assistant' : 'user', content }
}

export default { agents: { assistant } }
