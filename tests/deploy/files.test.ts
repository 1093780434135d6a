import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { portDefault } from '../../src/cli/settings/server-url.ts'
import { variableNames } from '../../src/cli/settings/settings.ts'
import { directives, dockerStages, execForm, fileText, root, under, unitSections } from './harness/formats.ts'

const manifest = JSON.parse(fileText('package.json')) as { version: string; engines: { node: string } }
// What docs/operations.md says of HOLDFAST_SHUTDOWN_MS.
const drainMs = Number(/`HOLDFAST_SHUTDOWN_MS`.*`(\d+)` \|$/m.exec(fileText('docs/operations.md'))?.[1])
// The driver's own.
const driverNames = ['PGPASSWORD']

function unknownNames(names: readonly string[]): string[] {
  return names.filter((name) => !variableNames.includes(name) && !driverNames.includes(name))
}

describe('the Dockerfile', () => {
  const stages = dockerStages(fileText('Dockerfile'))
  const last = stages.at(-1) ?? []
  const textOf = (name: string) => last.find((each) => each.name === name)?.text ?? ''

  it('builds in stages, each on the Node that the package needs', () => {
    const images = stages.map(([from]) => from?.text.split(' ')[0])
    expect(images.length).toBeGreaterThan(1)
    for (const image of images) expect(image).toBe(`node:${manifest.engines.node.replace('>=', '')}-bookworm-slim`)
  })

  it('runs as nobody in particular, by words and not by a shell, and is stopped by a drain', () => {
    expect(textOf('USER')).toBe('node')
    expect(execForm(textOf('ENTRYPOINT'))).toEqual(['node', '/app/bin/holdfast.js'])
    expect(execForm(textOf('CMD'))).toEqual(['serve', '--host', '0.0.0.0'])
    expect(textOf('STOPSIGNAL')).toBe('SIGTERM')
    expect(textOf('EXPOSE')).toBe(String(portDefault))
    expect(execForm(textOf('HEALTHCHECK')).at(-1)).toContain(`http://127.0.0.1:${portDefault}/healthz`)
  })

  it('holds no secret, and knows settings only that there are', () => {
    const set = stages.flat().filter(({ name }) => name === 'ENV' || name === 'ARG')
    const names = set.flatMap(({ text }) => [...text.matchAll(/(\w+)=/g)].map((match) => match[1] ?? ''))
    expect(names.filter((name) => /TOKEN|PASSWORD|SECRET|KEY/.test(name))).toEqual([])
    expect(unknownNames(names.filter((name) => name.startsWith('HOLDFAST_')))).toEqual([])
  })

  it('is given what it copies and what its build reads, and nothing that it does not', () => {
    const lines = fileText('.dockerignore').split('\n')
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))[0]).toBe('*')
    const given = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const isGiven = (name: string) => given.some((each) => new RegExp(`^${each.replaceAll('*', '.*')}$`).test(name))
    const named = stages
      .flat()
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
      .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
    const read = ['bin', 'src', 'console', 'scripts', 'tsconfig.json', 'tsconfig.build.json']
    for (const name of [...named.filter((each) => each !== '.'), ...read]) {
      expect([name, isGiven(name), existsSync(join(root, name))]).toEqual([name, true, true])
    }
    expect(readdirSync(root).filter((name) => /^(\.git|node_modules|tests|docs)$/.test(name) && isGiven(name))).toEqual(
      [],
    )
  })
})

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
}

interface ComposeService {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
  readonly healthcheck?: object
  readonly read_only?: boolean
}

describe('deploy/compose.yaml', () => {
  const { services, volumes } = parse(fileText('deploy/compose.yaml'), { merge: true }) as Compose
  const nodes = Object.entries(services).filter(([, { image }]) => image === 'holdfast')

  it('has three nodes alike, whose settings there are, and which have the time to drain', () => {
    expect(nodes.map(([name]) => name)).toEqual(['node-a', 'node-b', 'node-c'])
    for (const [, { environment, stop_grace_period: grace = '', read_only: readOnly }] of nodes) {
      expect(unknownNames(Object.keys(environment))).toEqual([])
      expect(Number(grace.replace('s', '')) * 1000).toBeGreaterThan(Number(environment['HOLDFAST_SHUTDOWN_MS']))
      expect(environment).toEqual(nodes[0]?.[1].environment)
      expect(readOnly).toBe(true)
    }
  })

  it('names what it uses: the database, the volumes and the files', () => {
    const store = new URL(nodes[0]?.[1].environment['HOLDFAST_STORE'] ?? '')
    expect(services[store.hostname]?.environment).toMatchObject({
      POSTGRES_USER: store.username,
      POSTGRES_DB: store.pathname.slice(1),
    })
    expect(services[store.hostname]?.healthcheck).toBeDefined()
    for (const { volumes: mounted = [], depends_on: needed = {} } of Object.values(services)) {
      for (const name of Object.keys(needed)) expect(Object.keys(services)).toContain(name)
      for (const [source = ''] of mounted.map((each) => each.split(':'))) {
        if (source.startsWith('.')) expect(existsSync(join(root, 'deploy', source)), source).toBe(true)
        else expect(Object.keys(volumes)).toContain(source)
      }
    }
  })

  it('holds no secret', () => {
    for (const { environment } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (/TOKEN|PASSWORD/.test(name)) expect(value).toMatch(/^\$\{\w+:\?.+\}$/)
        if (name === 'HOLDFAST_STORE') expect(new URL(value).password).toBe('')
      }
    }
  })

  it.each([
    ['Caddyfile', true, 'reverse_proxy'],
    ['nginx.conf', false, 'upstream'],
  ])('has a balancer, by %s, that knows every node', (file, isLined, name) => {
    const all = under(directives(fileText(`deploy/${file}`), { isLined }), name)
    expect(all).not.toEqual([])
    for (const found of all) {
      const servers = isLined
        ? found.words.slice(1)
        : under(found.blocks, 'server').flatMap(({ words }) => words[1] ?? [])
      expect(servers).toEqual(nodes.map(([node]) => `${node}:${portDefault}`))
    }
  })

  it('has balancers that pass streams and WebSockets on as they come', () => {
    const caddy = directives(fileText('deploy/Caddyfile'), { isLined: true })
    expect(under(caddy, 'flush_interval')[0]?.words[1]).toBe('-1')
    expect(under(caddy, 'health_uri')[0]?.words[1]).toBe('/readyz')
    const nginx = directives(fileText('deploy/nginx.conf'), { isLined: false })
    expect(under(nginx, 'proxy_buffering')[0]?.words[1]).toBe('off')
    expect(under(nginx, 'proxy_http_version')[0]?.words[1]).toBe('1.1')
    const headers = under(nginx, 'proxy_set_header').map(({ words }) => words[1])
    expect(headers).toEqual(['Host', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Upgrade', 'Connection'])
    // What was sent is not sent again, unless it was refused: it may have been accepted.
    expect(under(nginx, 'proxy_next_upstream').map(({ words }) => words.slice(1))).toEqual([
      ['error', 'timeout'],
      ['http_503', 'non_idempotent'],
      ['error', 'timeout'],
    ])
    expect(under(nginx, 'error_page').map(({ words }) => words.slice(1))).toEqual([
      ['503', '=', '@refused'],
      ['502', '504', '=', '@unreached'],
    ])
  })

  it('has balancers that take no node from everybody because it refused what somebody asked of one thread', () => {
    const caddy = directives(fileText('deploy/Caddyfile'), { isLined: true })
    expect(under(caddy, 'unhealthy_status')).toEqual([])
    expect(under(caddy, 'fail_duration')[0]?.words[1]).toBe('2s')
    expect(under(caddy, 'health_interval')[0]?.words[1]).toBe('500ms')
    const nginx = directives(fileText('deploy/nginx.conf'), { isLined: false })
    const places = under(nginx, 'location').map(({ blocks }) => ({
      upstream: under(blocks, 'proxy_pass')[0]?.words[1],
      // What is named here counts as a failure of the node that says it.
      counts503: under(blocks, 'proxy_next_upstream')[0]?.words.includes('http_503'),
    }))
    expect(places).toEqual([
      { upstream: 'http://holdfast', counts503: false },
      { upstream: 'http://holdfast_again', counts503: true },
      { upstream: 'http://holdfast', counts503: false },
    ])
    const failures = under(nginx, 'upstream').map(({ words, blocks }) => [
      words[1],
      [...new Set(under(blocks, 'server').map((server) => server.words.slice(2).join(' ')))],
    ])
    expect(failures).toEqual([
      ['holdfast', ['max_fails=1 fail_timeout=2s']],
      ['holdfast_again', ['max_fails=0']],
    ])
  })

  it('has a balancer that waits for a machine that is gone as long as the node on it is left alone, and no minute', () => {
    const nginx = directives(fileText('deploy/nginx.conf'), { isLined: false })
    expect(under(nginx, 'proxy_connect_timeout').map(({ words }) => words[1])).toEqual(['2s'])
  })

  it('is configured in words that an nginx of before 1.25.1 knows', () => {
    const nginx = directives(fileText('deploy/nginx.conf'), { isLined: false })
    expect(under(nginx, 'http2')).toEqual([])
    expect(under(nginx, 'listen')[0]?.words.slice(1)).toEqual(['443', 'ssl', 'http2'])
  })
})

describe.each(['holdfast.service', 'holdfast@.service'])('deploy/%s', (file) => {
  const sections = unitSections(fileText(`deploy/${file}`))
  const service = sections.get('Service') ?? new Map<string, readonly string[]>()

  it('starts a server, gives it the time to drain, and brings it back', () => {
    expect([...sections.keys()]).toEqual(['Unit', 'Service', 'Install'])
    expect(service.get('ExecStart')).toEqual([
      expect.stringMatching(/^\/usr\/local\/bin\/holdfast serve --port (4747|%i)$/),
    ])
    expect(Number(service.get('TimeoutStopSec')?.[0]) * 1000).toBeGreaterThan(drainMs + 5_000)
    expect(service.get('KillSignal')).toEqual(['SIGTERM'])
    expect(service.get('Restart')).toEqual(['on-failure'])
    const names = (service.get('Environment') ?? []).flatMap((text) => text.split('=')[0] ?? [])
    expect(unknownNames(names.filter((name) => name !== 'XDG_STATE_HOME'))).toEqual([])
  })

  it('may do little, but write and run what it compiled', () => {
    const hardening = ['NoNewPrivileges', 'ProtectSystem', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'DynamicUser']
    for (const key of [...hardening, 'RestrictAddressFamilies', 'SystemCallFilter', 'CapabilityBoundingSet']) {
      expect(service.get(key), key).toHaveLength(1)
    }
    expect(service.has('MemoryDenyWriteExecute')).toBe(false)
  })

  it('names settings in its comments that there are', () => {
    const named = [...fileText(`deploy/${file}`).matchAll(/\b(HOLDFAST_\w+|PG\w+)/g)].flatMap((match) => match[1] ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(unknownNames(named)).toEqual([])
  })
})

interface Manifest {
  readonly kind: string
  readonly spec: Record<string, unknown>
}

interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly [Container]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: object }
  }[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
}

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(fileText('deploy/kubernetes.yaml'))
  const manifests = documents.map((each) => each.toJS() as Manifest)
  const [deployment, service, budget] = ['Deployment', 'Service', 'PodDisruptionBudget'].map(
    (kind) => manifests.find((each) => each.kind === kind)?.spec ?? {},
  )
  const template = deployment?.['template'] as { metadata: { labels: object }; spec: Pod }
  const [container] = template.spec.containers

  it('is three documents without an error', () => {
    expect(documents.flatMap((each) => each.errors)).toEqual([])
    expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
  })

  it('has three nodes, of which one at a time may go, and which the service finds', () => {
    const { labels } = template.metadata
    expect(deployment).toMatchObject({ replicas: 3, selector: { matchLabels: labels } })
    expect(budget).toMatchObject({ minAvailable: 2, selector: { matchLabels: labels } })
    expect(service).toMatchObject({ selector: labels, ports: [{ targetPort: container.ports[0]?.name }] })
    expect(container.ports).toEqual([{ name: 'http', containerPort: portDefault }])
    expect(container.args.at(-1)).toBe(String(portDefault))
  })

  it('runs the image that it says how to build and push, of this version', () => {
    const commands = [...fileText('deploy/kubernetes.yaml').matchAll(/^# {3}(docker .*)$/gm)].map((match) => match[1])
    expect(container.image).toBe(`registry.example/holdfast:${manifest.version}`)
    expect(commands).toEqual([`docker build --tag ${container.image} .`, `docker push ${container.image}`])
  })

  it('has settings that there are, and secrets by reference only', () => {
    expect(unknownNames(container.env.map(({ name }) => name))).toEqual([])
    for (const { name, value, valueFrom } of container.env) {
      const isSecret = /TOKEN|STORE/.test(name)
      expect([name, value === undefined, valueFrom?.secretKeyRef !== undefined]).toEqual([name, isSecret, isSecret])
    }
  })

  it('gives a node the time to drain, and few rights', () => {
    const { terminationGracePeriodSeconds: graceSeconds, securityContext } = template.spec
    const shutdownMs = Number(container.env.find(({ name }) => name === 'HOLDFAST_SHUTDOWN_MS')?.value)
    expect(graceSeconds * 1000).toBeGreaterThan(shutdownMs + container.lifecycle.preStop.sleep.seconds * 1000 + 5_000)
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})
