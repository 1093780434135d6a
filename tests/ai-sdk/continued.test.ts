import { expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import { backgroundTasks } from '../../src/index.ts'
import { lastUserText, stepsSoFar } from '../model-server/script.ts'
import { onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a sub-agent of the SDK that is taken up again knows what was said, tools and messages too', async () => {
    const server = await modelServer((request) => {
      if (lastUserText(request) !== 'dig') return { text: `You said ${lastUserText(request)}.` }
      const call = { calls: [{ name: 'list_tasks', input: {} }] }
      return stepsSoFar(request) === 0 ? { text: 'I look. ', ...call } : { text: 'Nothing.' }
    })
    const agents = { digger: aiSdkAgent({ model: modelOf(server) }, { backgroundTasks: () => plugin }) }
    const runtime = await world().open({ agents })
    const plugin = backgroundTasks(runtime)
    const first = await runtime.spawn({ thread: 't', agent: 'digger', prompt: 'dig', name: 'kid' })
    expect((await runtime.wait(first.id))?.result).toBe('Nothing.')
    const send = plugin.tools.find(({ name }) => name === 'send_message')
    const sent = (await send?.execute({ task: 'kid', content: 'deeper' }, { thread: 't' })) as { task: string }
    expect((await runtime.wait(sent.task))?.result).toBe('You said deeper.')
    const { messages = [] } = server.requests.at(-1) ?? {}
    expect(messages.filter(({ role }) => role !== 'system').map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: dig',
      'assistant: I look. ',
      expect.stringMatching(/^tool: .*kid/),
      'assistant: Nothing.',
      'user: deeper',
    ])
  })
})
