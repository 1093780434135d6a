import { Chat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { onTestFinished } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../../src/client/index.ts'
import type { AgentContext } from '../../src/index.ts'
import { type ChatTransport, createChatTransport } from '../../src/react/chat-transport.ts'
import type { ChatTransportOptions } from '../../src/react/chat-transport-runs.ts'
import { type LocalServer, localServer } from '../server/harness/local-server.ts'

/** What an agent does next. */
export type Cue = (ctx: AgentContext) => unknown

/** An agent that does what the test tells it, one cue after the other; `end` ends the run that is at work. */
export interface Stage extends LocalServer {
  readonly client: Client
  cue(...cues: Cue[]): void
  end(): void
  /** A chat of the AI SDK, as a page has it. */
  chat(options?: Partial<ChatTransportOptions> & { id?: string; messages?: UIMessage[] }): StagedChat
}

export type StagedChat = Chat<UIMessage> & { readonly over: ChatTransport }

const end: Cue = () => end

interface StageOptions extends Partial<ClientOptions> {
  /** Where the client finds the server, if not where it is. */
  readonly through?: (url: string) => Promise<string>
}

export async function stage(options: StageOptions = {}): Promise<Stage> {
  const { through = (url) => Promise.resolve(url), ...rest } = options
  const cues: Cue[] = []
  let added = Promise.withResolvers<undefined>()
  const cue = (...given: Cue[]) => {
    cues.push(...given)
    added.resolve(undefined)
    added = Promise.withResolvers()
  }
  const player = async (ctx: AgentContext) => {
    const cancelled = new Promise<never>((_, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))
    })
    for (;;) {
      const next = cues.shift()
      if (next === end) return
      if (next) await next(ctx)
      else await Promise.race([added.promise, cancelled])
    }
  }
  const local = await localServer({ agents: { player, helper: player } })
  const client = createClient({ url: await through(local.server.url), token: 'secret', ...rest })
  onTestFinished(() => client.close())
  return {
    ...local,
    client,
    cue,
    end: () => cue(end),
    chat({ id = 't', messages, ...given } = {}) {
      const transport = createChatTransport({ client, agent: 'player', ...given })
      const chat = new Chat<UIMessage>({ id, transport, ...(messages && { messages }) })
      return Object.assign(chat, { over: transport })
    },
  }
}

/** All that a message says. */
export function textOf(message: { readonly parts: readonly object[] } | undefined): string {
  return (message?.parts ?? []).map((part) => ('text' in part && part.text) || '').join('')
}
