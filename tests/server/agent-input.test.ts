import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/index.ts'
import { agent } from '../../src/index.ts'
import { Client } from '../unit/server/websocket/client.ts'
import { localServer } from './harness/local-server.ts'

const agents = {
  research: agent({
    input: z.object({ topic: z.string(), depth: z.coerce.number<string>().default(1) }),
    run: (_ctx, { topic, depth }) => `${topic} ${depth}`,
  }),
  broken: agent({
    input: z.string().transform(() => {
      throw new Error('a secret of the schema')
    }),
    run: () => 1,
  }),
}

async function served() {
  const local = await localServer({ agents })
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await local.get(path, headers, { method: 'POST', body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...local, post }
}

describe('a server whose agent has a schema', () => {
  it.each(['runs', 'tasks'])(
    'refuses what does not fit with 422 and the places, on %s, and stores nothing',
    async (route) => {
      const { post, runtime } = await served()
      const refused = await post(`/v1/threads/t/${route}`, { agent: 'research', input: { topic: 7 } })
      expect(refused).toMatchObject({
        status: 422,
        body: { code: 'invalid_input', errors: [{ path: 'input.topic', message: expect.stringContaining('string') }] },
      })
      expect(
        (await post(`/v1/threads/t/${route}`, { agent: 'research', prompt: 'owls' })).body['errors'],
      ).toMatchObject([{ path: 'prompt' }])
      expect(await runtime.thread('t')).toMatchObject({ head: 0, tasks: [] })
    },
  )

  it('refuses it over WebSocket as well, and the connection stays open', async () => {
    const { server, runtime } = await served()
    const socket = await Client.open(`${server.url.replace('http', 'ws')}/v1/ws`, 'secret')
    const run = { type: 'run', thread: 't', agent: 'research' }
    const refused = await socket.ask({ ...run, id: 1, input: {} })
    expect(refused).toMatchObject({
      type: 'error',
      problem: { status: 422, code: 'invalid_input', errors: [{ path: 'input.topic' }] },
    })
    expect(await runtime.thread('t')).toMatchObject({ head: 0 })
    expect(await socket.ask({ ...run, id: 2, input: { topic: 'owls' } })).toMatchObject({ type: 'accepted' })
  })

  it('answers a schema that throws with 500, shows nothing of it, and stores nothing', async () => {
    const { post, runtime } = await served()
    const { status, body } = await post('/v1/threads/t/runs', { agent: 'broken', prompt: 'x' })
    expect([status, body['code']]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(await runtime.thread('t')).toMatchObject({ head: 0 })
  })

  it('shows the schema, and takes from a client that knows it what fits', async () => {
    const { server } = await served()
    const client = createClient<typeof agents>({ url: server.url, token: 'secret' })
    onTestFinished(() => client.close())
    const shown = (await client.agents()).find(({ name }) => name === 'research')
    expect(shown?.inputSchema).toMatchObject({ type: 'object', required: ['topic'] })
    const task = await client.run('t', { agent: 'research', input: { topic: 'owls', depth: '3' } })
    expect((await client.wait(task)).result).toBe('owls 3')
  })
})
