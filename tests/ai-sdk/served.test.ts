import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import { createRuntime, serve } from '../../src/index.ts'
import { turns } from '../model-server/script.ts'
import { modelOf, modelServer } from './with-model.ts'

async function storeFor(kind: 'memory' | 'sqlite'): Promise<string> {
  if (kind === 'memory') return 'memory:'
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-served-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'store.db')}`
}

describe.each(['memory', 'sqlite'] as const)('%s', (kind) => {
  it('RUN-11 a dropped WebSocket does not cancel a model stream: the run ends and its result is stored', async () => {
    const model = await modelServer(turns({ text: ['Once ', 'upon ', 'a time.'], holdAfter: 1 }))
    const agents = { helper: aiSdkAgent({ model: modelOf(model) }) }
    const runtime = createRuntime({ store: await storeFor(kind), agents })
    const server = await serve(runtime, {
      port: 0,
      tokens: { owner: 'secret' },
      handlesSignals: false,
      shutdownMs: 1000,
    })
    onTestFinished(() => server.close())
    const headers = { authorization: 'Bearer secret' }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/ws`, { headers })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'run', id: '1', thread: 't', agent: 'helper', prompt: 'Tell me' }))
    const [frame] = (await once(socket, 'message')) as [Buffer]
    const { task } = JSON.parse(frame.toString()) as { task: { id: string } }
    await model.held()
    socket.terminate()
    await once(socket, 'close')
    model.release()
    const ended = await runtime.wait(task.id)
    expect(ended).toMatchObject({ status: 'completed', result: 'Once upon a time.', attempt: 1 })
    const answer = await fetch(`${server.url}/v1/tasks/${task.id}`, { headers })
    expect(await answer.json()).toMatchObject({ status: 'completed', result: 'Once upon a time.' })
    expect(model.requests.length).toBe(1)
  })
})
