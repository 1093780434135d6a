import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../src/core/task.ts'
import { ModelServer } from '../model-server/model-server.ts'
import { lastUserText, type Script, turns } from '../model-server/script.ts'
import { OwnedProcess } from './harness/owned-process.ts'

const program = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))
const key = 'sk-test-0123456789abcdef'
const headers = { 'content-type': 'application/json', authorization: 'Bearer secret' }

interface Options {
  readonly command?: 'serve' | 'dev'
  readonly env: Readonly<Record<string, string>>
  readonly nodeFlags?: readonly string[]
  readonly config?: string
}

async function started({ command = 'serve', env, nodeFlags = [], config }: Options) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-assistant-'))
  if (config !== undefined) writeFileSync(join(folder, 'holdfast.config.ts'), config)
  const args = [...nodeFlags, program, command, '--port', '0', '--store', 'memory:']
  const server = new OwnedProcess({
    arguments: args,
    env: { XDG_STATE_HOME: folder, HOLDFAST_TOKENS: 'owner=secret,alice=other', HOLDFAST_LOG_LEVEL: 'debug', ...env },
    folder,
  })
  onTestFinished(async () => {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
  return { server, url }
}

async function agentNames(url: string): Promise<string[]> {
  const { agents } = (await (await fetch(`${url}/v1/agents`, { headers })).json()) as { agents: { name: string }[] }
  return agents.map(({ name }) => name)
}

async function ask(url: string, prompt: string, as: object = headers): Promise<Task> {
  const asker = { ...headers, ...as }
  const body = JSON.stringify({ agent: 'assistant', prompt })
  const accepted = await fetch(`${url}/v1/threads/t/runs`, { method: 'POST', headers: asker, body })
  const { id } = (await accepted.json()) as Task
  await (
    await fetch(`${url}/v1/threads/t/events?task=${id}`, { headers: { ...asker, accept: 'application/x-ndjson' } })
  ).text()
  return (await (await fetch(`${url}/v1/tasks/${id}`, { headers: asker })).json()) as Task
}

async function modelServer(script: Script): Promise<ModelServer> {
  const server = await ModelServer.start(script)
  onTestFinished(() => server.close())
  return server
}

/** A provider that speaks as Anthropic does, and says one thing. */
async function anthropic(text: string) {
  const asked: { readonly model: string; readonly apiKey: string | undefined }[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { model } = JSON.parse((await request.toArray()).join('')) as { model: string }
    asked.push({ model, apiKey: request.headers['x-api-key'] as string | undefined })
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

describe('the assistant of a key in the environment', () => {
  it.each(['serve', 'dev'] as const)(
    'answers by OpenAI under holdfast %s, and no log shows the key',
    async (command) => {
      const model = await modelServer(turns({ text: ['Hello ', 'there.'] }))
      const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'scripted' }
      const { server, url } = await started({ command, env })
      expect(await agentNames(url)).toContain('assistant')
      expect(await ask(url, 'Hi')).toMatchObject({ status: 'completed', result: 'Hello there.', agent: 'assistant' })
      expect(model.requests).toMatchObject([{ endpoint: 'chat', model: 'scripted' }])
      expect(model.requests[0]?.tools).toContain('spawn_task')
      await server.end('SIGTERM')
      expect(server.stderr.join('\n')).toContain('assistant asks scripted of OpenAI')
      expect(server.stderr.join('\n')).not.toContain(key)
    },
  )

  it('sees the tasks of whoever asks, and of nobody else', async () => {
    const model = await modelServer(turns({ calls: [{ name: 'list_tasks', input: {} }] }, { text: 'Done.' }))
    const { url } = await started({ env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: model.url } })
    const body = JSON.stringify({ agent: 'echo', prompt: 'mine', description: 'the owner’s own' })
    await fetch(`${url}/v1/threads/t/tasks`, { method: 'POST', headers, body })
    await ask(url, 'What goes on?', { authorization: 'Bearer other' })
    expect(JSON.stringify(model.requests.map(({ messages }) => messages))).not.toContain('the owner’s own')
    const before = model.requests.length
    await ask(url, 'What goes on?')
    expect(JSON.stringify(model.requests.slice(before).map(({ messages }) => messages))).toContain('the owner’s own')
    expect(model.requests.map(lastUserText).every((text) => text.length > 0)).toBe(true)
  })

  it('answers by Anthropic where that is the key', async () => {
    const { asked, url: baseUrl } = await anthropic('Good day.')
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_MODEL: 'scripted', OPENAI_API_KEY: '' }
    const { url } = await started({ env })
    expect(await ask(url, 'Hi')).toMatchObject({ status: 'completed', result: 'Good day.' })
    expect(asked).toEqual([{ model: 'scripted', apiKey: key }])
  })

  it('is not there without a key, and not where the config file has one of its own', async () => {
    const { url } = await started({ env: {} })
    expect(await agentNames(url)).not.toContain('assistant')
    const config = `export default { agents: { assistant: () => 'my own' } }`
    const own = await started({ env: { OPENAI_API_KEY: key }, config })
    expect(await ask(own.url, 'Hi')).toMatchObject({ result: 'my own' })
    expect(own.server.stderr.join('\n')).not.toContain('assistant asks')
  })

  it.each([
    ['OPENAI', '@ai-sdk/openai', '@ai-sdk/openai'],
    ['ANTHROPIC', '@ai-sdk/anthropic', '@ai-sdk/anthropic'],
    ['OPENAI', 'ai', '@ai-sdk/openai'],
  ])('%s without the package %s says what to install, and the server starts', async (prefix, missing, named) => {
    const hook = `
      import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) {
        if (name !== ${JSON.stringify(missing)}) return next(name, context)
        throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
      } })`
    const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
    const { server, url } = await started({ env: { [`${prefix}_API_KEY`]: key }, nodeFlags })
    expect(await agentNames(url)).not.toContain('assistant')
    await server.end('SIGTERM')
    const said = new RegExp(`^holdfast: ${prefix}_API_KEY is set, .*Run npm install ai ${named}$`)
    expect(server.stderr.filter((line) => said.test(line))).toHaveLength(1)
  })
})
