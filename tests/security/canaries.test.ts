import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { Canaries } from './harness/canaries.ts'
import { ConfiguredServer } from './harness/configured-server.ts'
import { reads, type Said, traffic } from './harness/traffic.ts'

// Only a machine under heavy load gets near this.
const timeoutMs = 300_000

const config = `import { signedWebhook } from 'holdfast'

export default {
  agents: {
    // Writes every secret that it was told of to the log, in every way it can.
    async leaky({ log }: { log: { error(facts: object, message: string): void; debug(facts: object, message: string): void } }) {
      for (const secret of JSON.parse(process.env['LEAKED'] ?? '[]') as string[]) {
        const err = new Error(\`about \${secret}\`, { cause: new Error(secret) })
        log.error({ err, deep: [{ text: \`x\${secret}y\` }], [secret]: 1 }, \`the secret is \${secret}\`)
        log.error({ body: JSON.stringify({ deeper: JSON.stringify({ secret }) }) }, JSON.stringify({ secret }))
        log.debug({ headers: { authorization: secret, Cookie: secret, 'X-Api-Key': secret } }, 'headers')
        void Promise.reject(new Error(secret))
      }
      throw new Error(process.env['LEAKED'])
    },
  },
  onEnded: signedWebhook({
    url: process.env['WEBHOOK_URL'] ?? '',
    secret: process.env['WEBHOOK_SECRET'] ?? '',
    allowPrivate: true,
  }),
}
`

/** A server of the test's own; answers with its address. */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A receiver of webhooks that fails, and keeps what it was sent. */
async function failingReceiver(): Promise<{ readonly url: string; readonly received: string[] }> {
  const received: string[] = []
  const take = async (request: IncomingMessage) => {
    received.push(request.rawHeaders.join('\n'), await text(request))
  }
  const url = await listening((request, response) => {
    void take(request).then(() => response.writeHead(500).end('no'))
  })
  return { url, received }
}

async function startedWith(canaries: Canaries, env: Readonly<Record<string, string>> = {}) {
  const receiver = await failingReceiver()
  // A provider that takes no key, and says so.
  const provider = await listening((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Incorrect API key"}}')
  })
  const tokens = {
    alice: canaries.plant('the token of alice', 'to"ken\\'),
    bob: canaries.plant('the token of bob'),
  }
  const server = await ConfiguredServer.start(
    {
      store: 'sqlite',
      tokens,
      env: {
        HOLDFAST_LOG_LEVEL: 'debug',
        HOLDFAST_TOKEN: canaries.plant('the token of the owner'),
        OPENAI_API_KEY: canaries.plant('the key of a provider', 'sk-'),
        OPENAI_BASE_URL: `${provider}/v1`,
        ANTHROPIC_API_KEY: canaries.plant('the key of another provider', 'sk-ant-'),
        WEBHOOK_URL: `${receiver.url}/hook`,
        WEBHOOK_SECRET: canaries.plant('the secret of a webhook'),
        UNRELATED_SECRET: canaries.plant('a secret that is nothing to the server'),
        ...env,
      },
    },
    config,
  )
  onTestFinished(() => server.end())
  return { server, receiver }
}

it(
  'no secret of the server or of its callers is in any answer, event, metric, webhook, line of output, or file',
  async () => {
    const canaries = new Canaries()
    const { server, receiver } = await startedWith(canaries)
    const said: Said = []
    await traffic(server, canaries, said)
    await reads(server, said)
    // Again after a crash, which reads everything back from the store.
    const [out, log] = [server.stdout, server.stderr]
    await server.restart()
    await reads(server, said)
    const files = await server.files()
    await server.stop()
    const places: Said = [
      ...said,
      ['stdout', [...out, ...server.stdout].join('\n')],
      ['the log', [...log, ...server.stderr].join('\n')],
      ['a webhook', receiver.received.join('\n')],
      ...[...files].map(([path, bytes]): [string, string] => [path, bytes.toString('latin1')]),
    ]
    expect(places.flatMap(([place, content]) => canaries.foundIn(place, content))).toEqual([])
    // Nothing is found in what is not there.
    expect(canaries.count).toBeGreaterThan(30)
    expect(log.length).toBeGreaterThan(50)
    expect(receiver.received.length).toBeGreaterThan(2)
    expect(said.filter(([, content]) => /^(4\d\d|HTTP\/1.1 4\d\d)/.test(content)).length).toBeGreaterThan(30)
    expect(files.size).toBeGreaterThan(0)
  },
  timeoutMs,
)

it(
  'no secret that the server knows is in the log, though an agent writes it there in every way it can',
  async () => {
    const canaries = new Canaries()
    const known = [
      canaries.plant('the token of alice', 'to"ken\\'),
      canaries.plant('the token of the owner'),
      canaries.plant('the key of a provider', 'sk-'),
      canaries.plant('the key of another provider', 'sk-ant-'),
    ]
    const { server } = await startedWith(canaries, { LEAKED: JSON.stringify(known) })
    const body = { agent: 'leaky', prompt: 'go' }
    const accepted = await server.request<{ id: string }>('POST', '/v1/threads/t/runs', { body })
    const headers = { accept: 'application/x-ndjson' }
    const events = await server.request('GET', `/v1/threads/t/events?task=${accepted.body.id}`, { headers })
    // What an agent says is its own, and is not read by anybody on the way.
    expect(events.text).toContain('task.failed')
    await server.stop()
    const log = server.stderr.join('\n')
    expect(canaries.foundIn('the log', log)).toEqual([])
    expect(log.split('[redacted]').length).toBeGreaterThan(known.length * 6)
    for (const line of server.stderr.filter((each) => each.startsWith('{')))
      expect(() => JSON.parse(line)).not.toThrow()
  },
  timeoutMs,
)
