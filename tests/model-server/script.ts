/** A call of a function, as a model writes it. */
export interface ScriptedCall {
  readonly name: string
  readonly input: unknown
  readonly id?: string
}

/** One answer of the model. What is not given does not happen. */
export interface Turn {
  readonly reasoning?: readonly string[]
  /** The chunks of its text; one string is one chunk. */
  readonly text?: string | readonly string[]
  readonly calls?: readonly ScriptedCall[]
  /** Refuses the request with this status before anything is said. */
  readonly status?: number
  /** Headers of that refusal. */
  readonly headers?: Readonly<Record<string, string>>
  /** Ends the stream with an error after this many chunks. */
  readonly errorAfter?: number
  /** Breaks the connection after this many chunks. */
  readonly cutAfter?: number
  /** Says nothing more after this many chunks, until the test lets it go on or the caller leaves. */
  readonly holdAfter?: number
}

/** A request as the server understood it. */
export interface ModelRequest {
  readonly number: number
  readonly endpoint: 'chat' | 'responses'
  readonly model: string
  /** What is in the conversation, oldest first, in words of either endpoint. */
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly string[]
}

export interface RequestMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[]
}

export type Script = (request: ModelRequest) => Turn

/**
 * Answers with the turns of a list by what has been answered since the last prompt: the n-th step of a loop gets the n-th turn,
 * however often it is asked for. A server that was restarted answers the same.
 */
export function turns(...list: readonly Turn[]): Script {
  return (request) => {
    const answered = stepsSoFar(request)
    const turn = list[answered]
    if (!turn) throw new Error(`The script has ${list.length} turns, and was asked for turn ${answered + 1}`)
    return turn
  }
}

/** How many steps with calls the model has made in this conversation. */
export function stepsSoFar({ messages }: ModelRequest): number {
  return messages.filter(({ role, calls }) => role === 'assistant' && (calls?.length ?? 0) > 0).length
}

export function lastUserText({ messages }: ModelRequest): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? ''
}

export function chunksOf({ text = [] }: Turn): readonly string[] {
  return typeof text === 'string' ? [text] : text
}
