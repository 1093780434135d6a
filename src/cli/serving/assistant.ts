import type { Agent, Runtime } from '../../index.ts'

type Env = Readonly<Record<string, string | undefined>>

interface Provider {
  readonly name: 'OpenAI' | 'Anthropic'
  readonly apiKey: string
  readonly baseURL?: string
  readonly model: string
}

/** The agent that a key in the environment gives, or why there is none. */
export interface Assistant {
  readonly agent?: Agent
  /** Which model it asks, or what is missing. */
  readonly line: string
}

const variables = {
  OpenAI: { prefix: 'OPENAI', model: 'gpt-5-mini', packageName: '@ai-sdk/openai' },
  Anthropic: { prefix: 'ANTHROPIC', model: 'claude-sonnet-5-5', packageName: '@ai-sdk/anthropic' },
} as const

const instructions =
  'You are a helpful assistant that works in the background: whoever asked may be gone and come back later for your answer. ' +
  'Work on until it is done, and say plainly what you could not do. For work that goes on beside yours, spawn a task of the agent assistant.'

/**
 * An agent `assistant` for whoever has a key of a provider: `OPENAI_API_KEY`, else `ANTHROPIC_API_KEY`. The packages that
 * speak to the provider are loaded only then; where they are not installed, a line says how to install them.
 */
export async function assistantOf(env: Env, runtime: () => Runtime): Promise<Assistant | undefined> {
  const provider = providerOf(env, 'OpenAI') ?? providerOf(env, 'Anthropic')
  if (!provider) return undefined
  const { name, model } = provider
  try {
    return { agent: await agentOf(provider, runtime), line: `assistant asks ${model} of ${name}` }
  } catch (error) {
    if (!isPackageMissing(error)) throw error
    const { prefix, packageName } = variables[name]
    const install = `npm install ai ${packageName}`
    return {
      line: `${prefix}_API_KEY is set, but there is no agent assistant, because a package is missing. Run ${install}`,
    }
  }
}

/** The keys that the log must not show, whether they are used or not. */
export function providerKeys(env: Env): string[] {
  return Object.values(variables).flatMap(({ prefix }) => env[`${prefix}_API_KEY`] || [])
}

function providerOf(env: Env, name: Provider['name']): Provider | undefined {
  const { prefix, model } = variables[name]
  const [apiKey, baseURL, chosen] = ['API_KEY', 'BASE_URL', 'MODEL'].map((what) => env[`${prefix}_${what}`]?.trim())
  // These variables are not ours: an empty one is as good as none.
  if (!apiKey) return undefined
  return { name, apiKey, model: chosen || model, ...(baseURL && { baseURL }) }
}

async function agentOf(provider: Provider, runtime: () => Runtime): Promise<Agent> {
  const model = await modelOf(provider)
  const [{ aiSdkAgent }, { backgroundTasks }] = await Promise.all([
    import('../../ai-sdk/index.ts'),
    import('../../index.ts'),
  ])
  return aiSdkAgent(
    { model, instructions },
    {
      description: `A general assistant (${provider.model} of ${provider.name})`,
      backgroundTasks: ({ principal }) => backgroundTasks(runtime().as(principal)),
    },
  )
}

async function modelOf({ name, apiKey, baseURL, model }: Provider) {
  const settings = { apiKey, ...(baseURL !== undefined && { baseURL }) }
  if (name === 'Anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic(settings)(model)
  }
  const { createOpenAI } = await import('@ai-sdk/openai')
  const openai = createOpenAI(settings)
  // Others who speak as OpenAI does speak its older dialect.
  return baseURL === undefined ? openai.responses(model) : openai.chat(model)
}

function isPackageMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
