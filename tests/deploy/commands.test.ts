import { spawnSync } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { portDefault } from '../../src/cli/settings/server-url.ts'
import { tempFolder } from '../cli/harness/local-server.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { databaseServer } from './harness/database.ts'
import { directives, dockerStages, execForm, fileText, root, under, unitSections } from './harness/formats.ts'

const here = databaseServer()
const program = [process.execPath, `${root}/bin/holdfast.js`]

const image = dockerStages(fileText('Dockerfile')).at(-1) ?? []
const wordsOf = (name: string) => execForm(image.find((each) => each.name === name)?.text ?? '[]')

interface Started {
  readonly url: string
  readonly process: OwnedProcess
}

/** Starts what a file says, as it says, but on a free port of this machine alone, and waits until it answers. */
async function start(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Started> {
  const placed = words.map((word) =>
    word
      .replace(/^node$/, process.execPath)
      .replace(/^\/app\//, `${root}/`)
      .replace('0.0.0.0', '127.0.0.1'),
  )
  const at = placed.indexOf('--port')
  const all = at === -1 ? [...placed, '--port', '0'] : placed.with(at + 1, '0')
  const [command = '', ...args] = all
  const folder = tempFolder()
  const owned = new OwnedProcess({ program: command, arguments: args, env: { XDG_STATE_HOME: folder, ...env }, folder })
  onTestFinished(async () => void (await owned.end('SIGKILL')))
  const [, url = ''] = await owned.line(/^holdfast listening on (\S+)$/)
  return { url, process: owned }
}

/** What the environment of the nodes is, once the secrets are there. */
async function composeEnv(): Promise<Record<string, string>> {
  const { services } = parse(fileText('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string> }>
  }
  const given: Record<string, string> = { POSTGRES_PASSWORD: 'right', HOLDFAST_TOKEN: 'token-of-the-test' }
  const entries = Object.entries(services['node-a']?.environment ?? {}).map(([name, value]) => {
    const filled = value.replaceAll(
      /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
      (_, key: string, other = '') => given[key] ?? other,
    )
    return [name, filled] as const
  })
  const { url } = await here().database()
  const store = new URL(url)
  // The user who needs the password of PGPASSWORD.
  store.username = 'locked'
  return { ...Object.fromEntries(entries), HOLDFAST_STORE: store.href }
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers })
  await response.body?.cancel()
  return response.status
}

describe('the commands of the files for deployment', () => {
  it('of the Dockerfile start the nodes of the compose file, whose health is told', async () => {
    const env = await composeEnv()
    const words = [...wordsOf('ENTRYPOINT'), ...wordsOf('CMD')]
    const nodes = await Promise.all([start(words, env), start(words, env), start(words, env)])
    const [command = '', ...args] = wordsOf('HEALTHCHECK')
    expect(command).toBe('node')
    const healthOf = (url: string) => {
      const port = new URL(url).port
      return spawnSync(
        process.execPath,
        args.map((word) => word.replace(`:${portDefault}`, `:${port}`)),
      ).status
    }
    const [probe] = under(directives(fileText('deploy/Caddyfile'), { isLined: true }), 'health_uri')
    for (const { url } of nodes) {
      expect(healthOf(url)).toBe(0)
      // A balancer asks by the name of the node, which nobody has configured.
      expect(await statusOf(`${url}${probe?.words[1]}`, { host: 'node-a:4747' })).toBe(200)
    }
    const [first, second] = nodes
    const headers = { authorization: `Bearer ${env['HOLDFAST_TOKEN']}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ agent: 'echo', prompt: 'hi' })
    const accepted = await fetch(`${first?.url}/v1/threads/t/runs`, { method: 'POST', headers, body })
    const { id } = (await accepted.json()) as { id: string }
    expect(await statusOf(`${second?.url}/v1/tasks/${id}`, headers)).toBe(200)
    const ends = nodes.map(({ process: each }) => each.end('SIGTERM'))
    expect(await Promise.all(ends)).toEqual(nodes.map(() => ({ code: 0, signal: null })))
    expect(healthOf(first?.url ?? '')).toBe(1)
  })

  it('of the manifest for Kubernetes start a node that its probes find', async () => {
    const [deployment] = parseAllDocuments(fileText('deploy/kubernetes.yaml')).map((each) => each.toJS() as unknown)
    const { containers } = (deployment as { spec: { template: { spec: { containers: [Record<string, unknown>] } } } })
      .spec.template.spec
    const [container] = containers
    const variables = container['env'] as { name: string; value?: string }[]
    const { HOLDFAST_STORE = '', PGPASSWORD = '' } = await composeEnv()
    const secrets: Record<string, string> = { HOLDFAST_STORE, HOLDFAST_TOKEN: 'token-of-the-test' }
    const env = Object.fromEntries(variables.map(({ name, value }) => [name, value ?? secrets[name] ?? '']))
    const kubernetes = { HOLDFAST_SERVICE_HOST: '10.0.0.1', HOLDFAST_PORT: 'tcp://10.0.0.1:80', PGPASSWORD }
    const words = [...wordsOf('ENTRYPOINT'), ...(container['args'] as string[])]
    const node = await start(words, { ...env, ...kubernetes })
    for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { httpGet } = container[name] as { httpGet: { path: string; port: string } }
      expect(httpGet.port).toBe('http')
      expect(await statusOf(`${node.url}${httpGet.path}`, { host: '10.1.2.3:4747' })).toBe(200)
    }
    expect(await node.process.end('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it.each(['holdfast.service', 'holdfast@.service'])('of %s start a server', async (file) => {
    const service = unitSections(fileText(`deploy/${file}`)).get('Service')
    const [command = '', ...args] = service?.get('ExecStart')?.[0]?.split(' ') ?? []
    expect(command).toBe('/usr/local/bin/holdfast')
    const isTemplate = file.includes('@')
    const node = await start([...program, ...args], isTemplate ? await composeEnv() : {})
    const readiness = await fetch(`${node.url}/readyz`)
    expect(await readiness.json()).toMatchObject({ store: isTemplate ? 'postgres' : 'sqlite' })
    expect(await node.process.end(service?.get('KillSignal')?.[0] as 'SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
