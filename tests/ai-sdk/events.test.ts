import { jsonSchema, ToolLoopAgent, tool } from 'ai'
import { expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import { turns } from '../model-server/script.ts'
import { eventsOf, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const city = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } })

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it.each(['chat', 'responses'] as const)(
    'text, tool calls and usage of %s become events and parts',
    async (endpoint) => {
      const server = await modelServer(
        turns(
          { text: ['Let me ', 'look.'], calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
          { text: ['It ', 'rains.'] },
        ),
      )
      const weather = tool({ inputSchema: city, execute: ({ city: name }) => ({ city: name, sky: 'rain' }) })
      const helper = new ToolLoopAgent({
        model: modelOf(server, endpoint),
        instructions: 'Be brief.',
        tools: { weather },
      })
      const here = world()
      const runtime = await here.open({ agents: { helper: aiSdkAgent(helper) } })
      const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'How is it in Oslo?' })
      const events = await eventsOf(runtime, 't', run.id)
      expect(events.map(({ type }) => type)).toEqual([
        'task.accepted',
        'task.started',
        'message.created',
        'text.delta',
        'text.delta',
        'usage',
        'custom',
        'tool.call',
        'tool.result',
        'text.delta',
        'text.delta',
        'usage',
        'custom',
        'message.created',
        'task.completed',
      ])
      const task = await runtime.get(run.id)
      expect(task).toMatchObject({
        status: 'completed',
        result: 'It rains.',
        usage: { modelCalls: 2, inputTokens: 22 },
      })
      const { messages } = await runtime.thread('t')
      expect(messages.at(-1)?.parts).toEqual([
        { type: 'text', text: 'Let me look.' },
        {
          type: 'tool',
          id: `${run.id}:weather`,
          name: 'weather',
          input: { city: 'Oslo' },
          output: { city: 'Oslo', sky: 'rain' },
        },
        { type: 'text', text: 'It rains.' },
      ])
      expect(server.requests.length).toBe(2)
    },
  )
})
