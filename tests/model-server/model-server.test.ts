import { fileURLToPath } from 'node:url'
import { generateText, streamText } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { modelOf } from '../ai-sdk/provider.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { ModelServer } from './model-server.ts'
import { turns } from './script.ts'

const program = fileURLToPath(new URL('model-server-process.ts', import.meta.url))

describe('the model server', () => {
  it('runs as a program with its script as argument, and tells what it was asked', async () => {
    const script = { turns: [{ text: ['Hel', 'lo.'] }] }
    const server = new OwnedProcess({ arguments: [program, JSON.stringify(script)], env: {} })
    onTestFinished(async () => void (await server.end('SIGKILL')))
    const [, url = ''] = await server.line(/listening on (\S+)/)
    for (const endpoint of ['chat', 'responses'] as const) {
      const { text } = streamText({ model: modelOf({ url }, endpoint), prompt: 'Hi' })
      expect(await text).toBe('Hello.')
    }
    const answer = await fetch(new URL('/requests', url))
    const asked = { model: 'scripted', messages: [{ role: 'user', text: 'Hi' }], tools: [] }
    expect(await answer.json()).toEqual([
      { number: 1, endpoint: 'chat', ...asked },
      { number: 2, endpoint: 'responses', ...asked },
    ])
  })

  it('answers what it does not know with 404, and counts what it refuses', async () => {
    const server = await ModelServer.start(turns({ status: 429 }))
    onTestFinished(() => server.close())
    expect((await fetch(`${server.url}/models`)).status).toBe(404)
    const refused = generateText({ model: modelOf(server), prompt: 'Hi', maxRetries: 0 })
    await expect(refused).rejects.toMatchObject({ statusCode: 429 })
    expect(server.requests.length).toBe(1)
  })
})
