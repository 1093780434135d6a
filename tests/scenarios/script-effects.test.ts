import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Runtime, scriptAgent, type Task } from '../../src/index.ts'
import { gate, onEachStore, type World } from './world.ts'

const agents = { script: scriptAgent({ allowEffects: true }), tame: scriptAgent() }

let server: Server
let url: string
let posts: unknown[]
let answer: (response: ServerResponse, request: IncomingMessage) => void

beforeEach(async () => {
  posts = []
  answer = (response) => response.end()
  server = createServer((request, response) => {
    void json(request).then((body) => {
      posts.push([request.method, request.headers['content-type'], body])
      answer(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function ended(runtime: Runtime, script: unknown, agent = 'script'): Promise<Task | undefined> {
  const { id } = await runtime.run({ thread: 't', agent, input: { script } })
  return runtime.wait(id)
}

async function open(here: World): Promise<Runtime> {
  return here.open({ agents })
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a step tells its effect which step of which task is executed, and by which attempt', async () => {
    const runtime = await open(world())
    const task = await ended(runtime, [{ step: 'pay/it', effect: `${url}/x`, value: { paid: true } }])
    expect(task).toMatchObject({ status: 'completed' })
    expect(posts).toEqual([['POST', 'application/json', { task: task?.id, key: 'pay/it', attempt: 1 }]])
  })

  it('an effect that fails fails the task', async () => {
    const runtime = await open(world())
    answer = (response) => response.writeHead(503).end('busy')
    const task = await ended(runtime, [{ step: 'pay', effect: url }, { say: 'never' }])
    expect(task).toMatchObject({ status: 'failed', error: { code: 'agent_error' } })
    expect(task?.error?.message).toContain('503')
    expect(task).not.toHaveProperty('partial')
  })

  it('an effect that nobody answers says which one, and why', async () => {
    const runtime = await open(world())
    answer = (response) => response.destroy()
    const task = await ended(runtime, [{ step: 'pay', effect: url }])
    const why = `The effect of step pay failed: ${url} cannot be asked: other side closed`
    expect(task?.error).toEqual({ code: 'agent_error', message: why })
  })

  it('an effect that leads elsewhere is not followed', async () => {
    const runtime = await open(world())
    answer = (response) => response.writeHead(307, { location: 'http://example.com/' }).end()
    const task = await ended(runtime, [{ step: 'pay', effect: url }])
    expect(task).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('unexpected redirect') } })
    expect(posts).toHaveLength(1)
  })

  it('a cancel ends a task whose effect never answers', async () => {
    const runtime = await open(world())
    const reached = gate()
    answer = () => reached.open()
    const { id } = await runtime.run({
      thread: 't',
      agent: 'script',
      input: { script: [{ step: 'pay', effect: url }] },
    })
    await reached.opened
    await runtime.cancel(id)
    expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
  })

  it('a script that is not right is refused before any of it is executed', async () => {
    const runtime = await open(world())
    const script = [{ say: 'x' }, { step: 'pay', effect: url }, { say: 'y', loud: 1 }, { dance: 1 }]
    await expect(ended(runtime, script)).rejects.toMatchObject({
      code: 'invalid_input',
      facts: {
        errors: [
          { path: 'input', message: 'input.script[2] has the unknown field "loud"' },
          { path: 'input', message: 'input.script[3] is no op that is known here: "dance"' },
        ],
      },
    })
    expect([posts, await runtime.messages('t')]).toEqual([[], []])
  })

  it('a list that is no script fails before any of it is executed', async () => {
    const runtime = await open(world())
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: [{ say: 'x' }] })
    const task = await runtime.wait(id)
    expect(task).toMatchObject({ status: 'failed', error: { code: 'agent_error' } })
    expect(task?.error?.message).toContain('input must be an object with "script"')
  })

  it('a script may not reach out where that was not allowed', async () => {
    const runtime = await open(world())
    const refused = ended(runtime, [{ step: 'pay', effect: url }], 'tame')
    await expect(refused).rejects.toThrow('input.script[0].effect is not allowed here')
    expect(posts).toEqual([])
  })

  it('a step that was executed but not recorded is executed again with the same key', async () => {
    const here = world()
    const runtime = await open(here)
    const reached = gate()
    const script = [{ step: 'first', effect: url }, { step: 'second', effect: url }, { say: 'done' }]
    answer = (response) => (posts.length === 2 ? reached.open() : response.end())
    const { id: task } = await runtime.run({ thread: 't', agent: 'script', input: { script } })
    await reached.opened
    await here.crash()
    answer = (response) => response.end()
    expect(await (await open(here)).wait(task)).toMatchObject({ status: 'completed', attempt: 2 })
    expect(posts.map((post) => (post as unknown[])[2])).toEqual([
      { task, key: 'first', attempt: 1 },
      { task, key: 'second', attempt: 1 },
      { task, key: 'second', attempt: 2 },
    ])
  })
})
