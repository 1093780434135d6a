import { chunksOf, type ModelRequest, type Turn } from './script.ts'

/** One thing the server sends: a server-sent event, with or without a name. */
export interface Sent {
  readonly data: object | '[DONE]'
  readonly event?: string
  /** Counts as a chunk of the answer; the script breaks off between these. */
  readonly isChunk?: true
}

const usage = { in: 11, out: 7 }

/** The events of an answer to `POST /chat/completions`. */
export function chatAnswer(request: ModelRequest, turn: Turn): Sent[] {
  const about = { id: `chatcmpl-${request.number}`, object: 'chat.completion.chunk', created: 1, model: request.model }
  const choice = (delta: object, finish_reason: string | null = null) => ({
    ...about,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const calls = callsOf(request, turn)
  return [
    { data: choice({ role: 'assistant', content: '' }) },
    ...chunksOf(turn).map((content) => ({ data: choice({ content }), isChunk: true as const })),
    ...calls.map(({ id, name, text }, index) => ({
      data: choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] }),
      isChunk: true as const,
    })),
    { data: choice({}, calls.length > 0 ? 'tool_calls' : 'stop') },
    {
      data: {
        ...about,
        choices: [],
        usage: { prompt_tokens: usage.in, completion_tokens: usage.out, total_tokens: usage.in + usage.out },
      },
    },
    { data: '[DONE]' },
  ]
}

/** The events of an answer to `POST /responses`. */
export function responsesAnswer(request: ModelRequest, turn: Turn): Sent[] {
  const response = { id: `resp_${request.number}`, object: 'response', created_at: 1, model: request.model }
  const events: Sent[] = [event('response.created', { response: { ...response, status: 'in_progress', output: [] } })]
  let output_index = 0
  const item = (made: (at: { output_index: number }) => Sent[]) => {
    events.push(...made({ output_index }))
    output_index += 1
  }
  if (turn.reasoning) item((at) => reasoningItem(request, turn, at))
  if (turn.text !== undefined) item((at) => messageItem(request, turn, at))
  for (const call of callsOf(request, turn)) item((at) => callItem(request, call, at))
  const completed = {
    ...response,
    status: 'completed',
    output: events.flatMap(({ event, data }) =>
      event === 'response.output_item.done' ? (data as { item: object }).item : [],
    ),
    incomplete_details: null,
    usage: {
      input_tokens: usage.in,
      output_tokens: usage.out,
      total_tokens: usage.in + usage.out,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: turn.reasoning ? 3 : 0 },
    },
  }
  return [...events, event('response.completed', { response: completed })]
}

function messageItem(request: ModelRequest, turn: Turn, at: { output_index: number }): Sent[] {
  const id = `msg_${request.number}_${at.output_index}`
  const text = chunksOf(turn).join('')
  const item = { id, type: 'message', role: 'assistant' }
  return [
    event('response.output_item.added', { ...at, item: { ...item, status: 'in_progress', content: [] } }),
    ...chunksOf(turn).map((delta) => ({
      ...event('response.output_text.delta', { ...at, item_id: id, content_index: 0, delta }),
      isChunk: true as const,
    })),
    event('response.output_item.done', {
      ...at,
      item: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
    }),
  ]
}

function reasoningItem(request: ModelRequest, { reasoning = [] }: Turn, at: { output_index: number }): Sent[] {
  const id = `rs_${request.number}_${at.output_index}`
  const text = reasoning.join('')
  return [
    event('response.output_item.added', { ...at, item: { id, type: 'reasoning', summary: [] } }),
    event('response.reasoning_summary_part.added', {
      ...at,
      item_id: id,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    }),
    ...reasoning.map((delta) => ({
      ...event('response.reasoning_summary_text.delta', { ...at, item_id: id, summary_index: 0, delta }),
      isChunk: true as const,
    })),
    event('response.output_item.done', {
      ...at,
      item: { id, type: 'reasoning', summary: [{ type: 'summary_text', text }] },
    }),
  ]
}

function callItem(request: ModelRequest, call: Call, at: { output_index: number }): Sent[] {
  const id = `fc_${request.number}_${at.output_index}`
  const item = { id, type: 'function_call', call_id: call.id, name: call.name }
  return [
    event('response.output_item.added', { ...at, item: { ...item, arguments: '', status: 'in_progress' } }),
    {
      ...event('response.function_call_arguments.delta', { ...at, item_id: id, delta: call.text }),
      isChunk: true,
    },
    event('response.output_item.done', { ...at, item: { ...item, arguments: call.text, status: 'completed' } }),
  ]
}

interface Call {
  readonly id: string
  readonly name: string
  readonly text: string
}

function callsOf(request: ModelRequest, { calls = [] }: Turn): Call[] {
  return calls.map(({ id, name, input }, index) => ({
    id: id ?? `call_${request.number}_${index}`,
    name,
    text: JSON.stringify(input),
  }))
}

function event(type: string, data: object): Sent {
  return { event: type, data: { type, ...data } }
}
