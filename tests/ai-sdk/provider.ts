import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import type { ModelRequest } from '../model-server/script.ts'

/** A model of a scripted server, through the provider that people use. */
export function modelOf(server: { readonly url: string }, endpoint: ModelRequest['endpoint'] = 'chat'): LanguageModel {
  const provider = createOpenAI({ baseURL: server.url, apiKey: 'test' })
  return endpoint === 'chat' ? provider.chat('scripted') : provider.responses('scripted')
}
