import { jsonSchema, type LanguageModel, ToolLoopAgent, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import type { Agent } from '../../src/index.ts'
import { lastUserText, stepsSoFar, turns } from '../model-server/script.ts'
import { createWorld } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const anything = jsonSchema<object>({ type: 'object' })

/** Runs an agent to its end, and tells which steps it has recorded. */
async function stepsOf(helper: Agent, ask: object = { prompt: 'Hi' }) {
  const here = createWorld('memory')
  try {
    const runtime = await here.open({ agents: { helper } })
    const { id } = await runtime.run({ thread: 't', agent: 'helper', ...ask })
    const task = await runtime.wait(id)
    const keys = here.committed.flatMap((unit) => unit.steps ?? []).map(({ key }) => key)
    return { task, keys: keys.filter((key) => !key.startsWith('~receive')) }
  } finally {
    await here.end()
  }
}

const loop = turns({ calls: [{ name: 'look', input: {} }] }, { text: 'Done.' })
const look = tool({ inputSchema: anything, execute: () => 'seen' })
const durableKeys = ['model', 'look/intent', 'look', 'model#2']

describe('an agent of the SDK', () => {
  it('is left as it is: what it is given for a run belongs to that run', async () => {
    const server = await modelServer(loop)
    const agent = new ToolLoopAgent({ model: modelOf(server), tools: { look } })
    const durable = aiSdkAgent(agent, { version: '7', description: 'helps', inputSchema: { type: 'object' } })
    expect(durable).toMatchObject({ version: '7', description: 'helps', inputSchema: { type: 'object' } })
    const { keys } = await stepsOf(durable)
    expect(keys).toEqual(durableKeys)
    expect(agent.tools.look).toBe(look)
    server.script = turns({ text: 'Bare.' })
    const bare = await agent.stream({ prompt: 'Hi' })
    expect(await bare.text).toBe('Bare.')
  })

  it('may choose model and tools when it is called, and another model for each step', async () => {
    const server = await modelServer(loop)
    const never = { specificationVersion: 'v4', provider: 'x', modelId: 'never' } as unknown as LanguageModel
    const agent = new ToolLoopAgent({
      model: never,
      prepareCall: (call) => ({ ...call, model: modelOf(server), tools: { look }, instructions: 'Late.' }),
      prepareStep: ({ stepNumber, model }) => (stepNumber === 0 ? { model } : { model: modelOf(server, 'responses') }),
    })
    const { task, keys } = await stepsOf(aiSdkAgent(agent))
    expect(task).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(keys).toEqual(durableKeys)
    expect(server.requests.map(({ endpoint }) => endpoint)).toEqual(['chat', 'responses'])
    expect(server.requests[0]?.messages[0]).toEqual({ role: 'system', text: 'Late.' })
  })

  it('may be of a subclass, and may name its model only', async () => {
    const server = await modelServer(loop)
    class Polite extends ToolLoopAgent<never, { look: typeof look }> {
      readonly please = 'Please: '
      override stream(options: Parameters<ToolLoopAgent<never, { look: typeof look }>['stream']>[0]) {
        return super.stream({ ...options, messages: [{ role: 'user', content: `${this.please}help` }] } as never)
      }
    }
    const scope = globalThis as { AI_SDK_DEFAULT_PROVIDER?: object }
    scope.AI_SDK_DEFAULT_PROVIDER = { languageModel: () => modelOf(server) }
    try {
      const { keys } = await stepsOf(aiSdkAgent(new Polite({ model: 'some/model', tools: { look } })))
      expect(keys).toEqual(durableKeys)
      expect(lastUserText(server.requests[0] ?? fail())).toBe('Please: help')
    } finally {
      delete scope.AI_SDK_DEFAULT_PROVIDER
    }
  })

  it('gets its call options from the input, and an input as text', async () => {
    const server = await modelServer(turns({ text: 'Done.' }))
    const agent = new ToolLoopAgent<{ tone: string }>({
      model: modelOf(server),
      callOptionsSchema: jsonSchema<{ tone: string }>({ type: 'object' }),
      prepareCall: ({ options, ...call }) => ({ ...call, instructions: `Be ${options.tone}.` }),
    })
    const helper = aiSdkAgent(agent, { callOptions: (input) => ({ tone: (input as { tone: string }).tone }) })
    await stepsOf(helper, { input: { tone: 'kind' } })
    expect(server.requests[0]?.messages).toEqual([
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: '{"tone":"kind"}' },
    ])
  })

  it('stops after as many steps as its settings say', async () => {
    const server = await modelServer((request) => ({ calls: [{ name: 'look', input: { n: stepsSoFar(request) } }] }))
    const { task } = await stepsOf(
      aiSdkAgent({ model: modelOf(server), tools: { look }, stopWhen: ({ steps }) => steps.length === 3 }),
    )
    expect(task).toMatchObject({ status: 'completed' })
    expect(server.requests.length).toBe(3)
  })

  it('is refused if its calls cannot be made durable, and so is nothing to answer', async () => {
    const other = { version: 'agent-v1', tools: {}, stream: () => Promise.resolve() } as const
    expect(() => aiSdkAgent(other)).toThrowError(/takes a ToolLoopAgent/)
    expect(() => aiSdkAgent({} as never)).toThrowError(/with a model/)
    const server = await modelServer(loop)
    const here = createWorld('memory')
    const runtime = await here.open({ agents: { helper: aiSdkAgent({ model: modelOf(server) }) } })
    const { id } = await runtime.spawn({ thread: 't', agent: 'helper' })
    const error = { message: expect.stringMatching(/nothing to answer/) as string }
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error })
    await here.end()
  })
})

function fail(): never {
  throw new Error('There was no request')
}
