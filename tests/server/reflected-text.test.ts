import { expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { RawRequest } from './harness/raw-request.ts'
import { logOf, taskOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'

// What ends a line somewhere, starts a frame of its own, or moves the cursor of a terminal.
const nasty =
  'a\r\nid: 99\r\ndata: {"forged":1}\n\nb\rc\u0000d\u2028e\u2029f\u0085g\u001b[2J\u001b]0;h\u0007i\u007f\ud800'

/** As the most eager reader of lines has them. */
function linesOf(text: string): string[] {
  return text.split(/[\r\n\u0085\u2028\u2029]/).filter((line) => line !== '')
}

/** A run with the text in every field that is shown again. */
async function reflectingRun(server: TestServer, thread: string): Promise<Task> {
  const script = [
    { say: nasty },
    { think: nasty },
    { emit: nasty, payload: { [nasty]: nasty } },
    { tool: nasty, input: nasty, output: nasty },
    { receive: {} },
    { answer: nasty },
    { fail: nasty },
  ]
  const body = { agent: 'script', input: { script }, description: nasty, metadata: { [nasty]: nasty } }
  const run = await expectStatus(202, server.request<Task>('POST', `/v1/threads/${thread}/runs`, { body }))
  const message = { content: nasty, from: nasty }
  await expectStatus(202, server.request('POST', `/v1/tasks/${run.id}/messages`, { body: message }))
  await (await watch('sse', server, { thread, task: run.id })).ended
  return run
}

onEachServer(['memory', 'sqlite'], (_kind, start) => {
  it('control characters in every reflected field stay one event, on every transport', async () => {
    const server = await start()
    const run = await reflectingRun(server, 't')
    const hanging = { agent: 'script', input: { script: [{ hang: true }] } }
    const second = await expectStatus(202, server.request<Task>('POST', '/v1/threads/t/tasks', { body: hanging }))
    await expectStatus(200, server.request('POST', `/v1/tasks/${second.id}/cancel`, { body: { reason: nasty } }))
    const log = await logUntil(server, second.id)
    expect(await taskOf(server, run.id)).toMatchObject({ description: nasty, error: { message: nasty } })
    for (const transport of transports) {
      const watcher = await watch(transport, server, { thread: 't' })
      expect(await watcher.until(({ seq }) => seq === log.length)).toEqual(log)
      watcher.close()
    }
    const texts = log.flatMap((event) => (event.type === 'text.delta' ? [event.data.text] : []))
    expect(texts).toEqual([nasty])
    const path = `/v1/threads/t/events?task=${run.id}`
    const own = log.filter(({ task }) => task === run.id)
    const sse = await server.request('GET', path, { headers: { accept: 'text/event-stream' } })
    const lines = linesOf(sse.text)
    expect(lines).toHaveLength(1 + 2 * own.length)
    expect(lines.every((line) => /^(retry: 1000|id: \d+|data: \{.*\})$/.test(line))).toBe(true)
    const ndjson = await server.request('GET', path, { headers: { accept: 'application/x-ndjson' } })
    expect(linesOf(ndjson.text).map((line) => JSON.parse(line) as Event)).toEqual(own)
  })

  it('what a client sends stays one line of the log, and is no control of a terminal', async () => {
    const server = await start({ env: { HOLDFAST_LOG_LEVEL: 'debug' } })
    await reflectingRun(server, 't')
    const forged = '%0d%0a{"level":"fatal"}%00%1b[2J%e2%80%a8'
    for (const path of [
      `/v1/threads/${forged}/runs`,
      `/v1/tasks/${forged}`,
      `/${forged}`,
      `/v1/tasks?status=${forged}`,
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status } = await server.request(method, path)
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
      }
    }
    const odd = {
      'x-request-id': 'a b"\u001b[2J',
      'user-agent': 'x\u001b[2J',
      'idempotency-key': '\u001b[2J',
      accept: '\t"',
    }
    const raw = new RawRequest(server, 'POST', '/v1/threads/t/runs', {
      body: { agent: 'echo', prompt: 'a' },
      headers: { ...odd, connection: 'close' },
    })
    await raw.sendAll()
    expect(await raw.closed()).not.toContain('\u001b')
    await server.stop()
    const lines = [...server.stderr, ...server.stdout.filter((line) => !line.startsWith('holdfast '))]
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      expect(() => JSON.parse(line) as unknown).not.toThrow()
      expect(JSON.parse(line)).not.toMatchObject({ level: 'fatal' })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
    }
  })

  it('a thread or a name with such characters is refused, and the answer does not repeat them raw', async () => {
    const server = await start()
    const client = await connect('ws', server)
    await expect(client.run(nasty, { agent: 'echo', prompt: 'a' })).rejects.toMatchObject({ code: 'invalid_request' })
    const body = { agent: nasty, prompt: 'a' }
    const refused = await server.request('POST', '/v1/threads/t/runs', { body })
    expect(refused.status).toBe(422)
    expect(refused.text).not.toContain('\u001b')
    expect(refused.text).not.toContain('\r')
    const field = { agent: 'echo', prompt: 'a', [nasty]: 1 }
    const named = await server.request('POST', '/v1/threads/t/runs', { body: field })
    expect(named).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(named.text).not.toContain('\u001b')
    client.drop()
  })
})

async function logUntil(server: TestServer, task: string): Promise<Event[]> {
  const watcher = await watch('sse', server, { thread: 't' })
  await watcher.until(isEndOf(task))
  watcher.close()
  return logOf(server, 't')
}
