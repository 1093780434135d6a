import { describe, expect, it } from 'vitest'
import { readSettings, type Settings, type Sources } from '../../../../src/cli/settings/settings.ts'
import { HoldfastError } from '../../../../src/index.ts'

function settings(sources: Partial<Sources> = {}): Settings {
  return readSettings({ flags: {}, env: {}, ...sources })
}

function fromConfig(values: Record<string, unknown>, more: Partial<Sources> = {}): Settings {
  return settings({ config: { file: 'holdfast.config.ts', values }, ...more })
}

/** The line of a refusal. */
function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof HoldfastError) return error.message
    throw error
  }
  return 'nothing was refused'
}

describe('settings', () => {
  it('have defaults that suit one machine', () => {
    expect(settings()).toEqual({ host: '127.0.0.1', tokens: {}, script: true, logLevel: 'info', agents: {} })
  })

  it('come from every variable', () => {
    const env = {
      HOLDFAST_STORE: 'sqlite:./here.db',
      HOLDFAST_TOKEN: 'secret=1',
      HOLDFAST_TOKENS: 'alice=one==, bob=two',
      HOLDFAST_IDS: 'random',
      HOLDFAST_HOSTS: 'app.example, other.example:8443',
      HOLDFAST_ORIGINS: 'https://app.example',
      HOLDFAST_TRUST_PROXY: '1',
      HOLDFAST_LEASE_MS: '1000',
      HOLDFAST_GRACE_MS: '0',
      HOLDFAST_SHUTDOWN_MS: '2000',
      HOLDFAST_CONCURRENCY: '8',
      HOLDFAST_LIMITS: 'bodyBytes=2048,treeDepth=3',
      HOLDFAST_SCRIPT: 'unsafe',
      HOLDFAST_LOG_LEVEL: 'debug',
      PATH: '/bin',
      HOLDFASTER: 'not ours',
    }
    expect(settings({ env })).toEqual({
      host: '127.0.0.1',
      store: 'sqlite:./here.db',
      tokens: { owner: 'secret=1', alice: 'one==', bob: 'two' },
      ids: 'random',
      hosts: ['app.example', 'other.example:8443'],
      origins: ['https://app.example'],
      trustProxy: true,
      leaseMs: 1000,
      graceMs: 0,
      shutdownMs: 2000,
      concurrency: 8,
      limits: { bodyBytes: 2048, treeDepth: 3 },
      script: 'unsafe',
      logLevel: 'debug',
      agents: {},
    })
  })

  it('come from a config file', () => {
    const values = {
      port: 0,
      host: '::1',
      store: 'memory:',
      token: 'secret',
      tokens: { alice: 'one' },
      ids: 'sequential',
      hosts: ['app.example'],
      origins: ['https://app.example'],
      trustProxy: false,
      leaseMs: 1000,
      graceMs: 0,
      shutdownMs: 0,
      concurrency: 1,
      limits: { jsonDepth: 5 },
      retention: { eventsMs: 604_800_000, eventsPerThread: 1000 },
      script: false,
      logLevel: 'silent',
      agents: { mine: () => 'done' },
      authenticate: () => 'alice',
      onEnded: () => {},
    }
    const { token, ...same } = values
    expect(fromConfig(values)).toEqual({ ...same, tokens: { owner: token, alice: 'one' } })
  })

  it('of flags count before those of the environment, and these before those of the config file', () => {
    const values = { store: 'sqlite:config', port: 1, leaseMs: 1, graceMs: 1 }
    const env = { HOLDFAST_STORE: 'sqlite:env', HOLDFAST_LEASE_MS: '2' }
    const flags = { store: 'sqlite:flag', port: '3' }
    expect(fromConfig(values, { env, flags })).toMatchObject({ store: 'sqlite:flag', port: 3, leaseMs: 2, graceMs: 1 })
    expect(fromConfig(values, { env })).toMatchObject({ store: 'sqlite:env', port: 1 })
    expect(fromConfig(values)).toMatchObject({ store: 'sqlite:config', leaseMs: 1 })
  })

  it('for limits count one by one', () => {
    const values = { limits: { treeDepth: 3, jsonDepth: 4 } }
    const env = { HOLDFAST_LIMITS: 'jsonDepth=5' }
    expect(fromConfig(values, { env }).limits).toEqual({ treeDepth: 3, jsonDepth: 5 })
  })

  it.each([
    ['127.0.0.1', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['192.168.1.2', false],
    ['::', false],
  ])('on %s have the script agent: %s', (host, isOn) => {
    expect(settings({ flags: { host } }).script).toBe(isOn)
    expect(settings({ flags: { host }, env: { HOLDFAST_SCRIPT: '1' } }).script).toBe(true)
    expect(settings({ flags: { host }, env: { HOLDFAST_SCRIPT: '0' } }).script).toBe(false)
  })

  it('take an IPv6 address with or without brackets', () => {
    expect(settings({ flags: { host: '[::1]' } }).host).toBe('::1')
  })
})

describe('a variable that is no setting', () => {
  it.each([
    ['HOLDFAST_TOKN', '. The nearest is HOLDFAST_TOKEN'],
    ['HOLDFAST_STOER', '. The nearest is HOLDFAST_STORE'],
    ['HOLDFAST_LEASE', '. The nearest is HOLDFAST_LEASE_MS'],
    ['HOLDFAST_token', '. The nearest is HOLDFAST_TOKEN'],
    ['HOLDFAST_', '. The nearest is HOLDFAST_'],
    ['HOLDFAST_PORT', '; use --port, or port in holdfast.config.ts'],
    ['HOLDFAST_HOST', '; use --host, or host in holdfast.config.ts'],
    ['HOLDFAST_COLOUR', '. docs/operations.md has them all'],
  ])('%s is refused with what there is instead', (name, instead) => {
    expect(refusal(() => settings({ env: { [name]: '1' } }))).toContain(`There is no setting ${name}${instead}`)
  })

  it('is let pass when it is the client’s', () => {
    expect(settings({ env: { HOLDFAST_URL: 'http://localhost:4747' } })).toEqual(settings())
  })

  it('is let pass when Kubernetes says it about a service', () => {
    const env = {
      HOLDFAST_SERVICE_HOST: '10.0.0.1',
      HOLDFAST_SERVICE_PORT: '4747',
      HOLDFAST_SERVICE_PORT_HTTP: '4747',
      HOLDFAST_PORT: 'tcp://10.0.0.1:4747',
      HOLDFAST_PORT_4747_TCP_ADDR: '10.0.0.1',
    }
    expect(settings({ env })).toEqual(settings())
  })
})

describe('a bad value', () => {
  it.each([
    ['HOLDFAST_STORE', 'mysql://x'],
    ['HOLDFAST_STORE', 'sqlite:'],
    ['HOLDFAST_STORE', './holdfast.db'],
    ['HOLDFAST_STORE', 'postgres:localhost/x'],
    ['HOLDFAST_STORE', 'postgres://u:1/2@localhost/x'],
    ['HOLDFAST_TOKEN', 'with space'],
    ['HOLDFAST_TOKENS', 'alice'],
    ['HOLDFAST_TOKENS', 'alice='],
    ['HOLDFAST_TOKENS', '=token'],
    ['HOLDFAST_TOKENS', 'alice=one,'],
    ['HOLDFAST_TOKENS', 'alice=one,alice=two'],
    ['HOLDFAST_TOKENS', 'alice=one,bob=one'],
    ['HOLDFAST_TOKENS', 'a/b=one'],
    ['HOLDFAST_IDS', 'Random'],
    ['HOLDFAST_HOSTS', '*'],
    ['HOLDFAST_HOSTS', 'app.example,'],
    ['HOLDFAST_HOSTS', 'https://app.example'],
    ['HOLDFAST_ORIGINS', 'app.example'],
    ['HOLDFAST_ORIGINS', '*'],
    ['HOLDFAST_ORIGINS', 'null'],
    ['HOLDFAST_TRUST_PROXY', 'yes'],
    ['HOLDFAST_TRUST_PROXY', '__proto__'],
    ['HOLDFAST_LEASE_MS', '0'],
    ['HOLDFAST_LEASE_MS', '1.5'],
    ['HOLDFAST_LEASE_MS', '1e3'],
    ['HOLDFAST_LEASE_MS', '-1'],
    ['HOLDFAST_LEASE_MS', '15s'],
    ['HOLDFAST_LEASE_MS', '99999999999999999999'],
    ['HOLDFAST_GRACE_MS', 'never'],
    ['HOLDFAST_SHUTDOWN_MS', ' '],
    ['HOLDFAST_CONCURRENCY', '0'],
    ['HOLDFAST_LIMITS', 'bodyBytes'],
    ['HOLDFAST_LIMITS', 'bodyBytes=1MB'],
    ['HOLDFAST_LIMITS', 'bodyBytes=0'],
    ['HOLDFAST_SCRIPT', 'on'],
    ['HOLDFAST_LOG_LEVEL', 'loud'],
  ])('of %s is named: %j', (name, value) => {
    expect(refusal(() => settings({ env: { [name]: value } }))).toMatch(new RegExp(`^${name}: `))
  })

  it('that is empty is no value', () => {
    const line = 'HOLDFAST_TOKEN is empty. Give it a value, or unset it'
    expect(refusal(() => settings({ env: { HOLDFAST_TOKEN: '' } }))).toBe(line)
  })

  it('of a flag or of the config file is named as well', () => {
    expect(refusal(() => settings({ flags: { port: '65536' } }))).toBe(
      '--port: 65536 is not a whole number from 0 to 65535',
    )
    expect(refusal(() => settings({ flags: { port: '' } }))).toBe('--port: "" is not a whole number from 0 to 65535')
    expect(refusal(() => settings({ flags: { host: 'a b' } }))).toMatch(/^--host: "a b" is no address/)
    expect(refusal(() => fromConfig({ leaseMs: '1000' }))).toBe(
      'leaseMs in holdfast.config.ts: "1000" is not a whole number from 1 on',
    )
  })

  it.each([
    { port: '4747' },
    { hosts: 'app.example' },
    { hosts: [1] },
    { tokens: ['alice'] },
    { tokens: { alice: 1 } },
    { token: 1 },
    { trustProxy: 1 },
    { script: 'on' },
    { limits: null },
    { limits: { bodyBytes: '1' } },
    { agents: [] },
    { store: 1 },
  ])('in the config file is refused: %j', (values) => {
    expect(refusal(() => fromConfig(values))).toContain(`${Object.keys(values)[0]} in holdfast.config.ts: `)
  })

  it('of a secret is not shown', () => {
    for (const env of [
      { HOLDFAST_TOKEN: 'my secret' },
      { HOLDFAST_TOKENS: 'my secret' },
      { HOLDFAST_TOKENS: 'a=my secret' },
      { HOLDFAST_STORE: 'postgre://me:secret@h/d' },
      { HOLDFAST_STORE: 'postgre://h/d?password=secret' },
      { HOLDFAST_URL: 'h:1/?token=secret' },
    ]) {
      expect(refusal(() => settings({ env }))).not.toContain('secret')
    }
  })
})

describe('a name that is no setting', () => {
  it('is refused in the config file, naming the nearest', () => {
    expect(refusal(() => fromConfig({ agent: {} }))).toBe(
      'There is no setting agent, which holdfast.config.ts has. The nearest is agents',
    )
    expect(refusal(() => fromConfig({ trustproxy: true }))).toContain('The nearest is trustProxy')
  })

  it('is refused among the limits, naming the nearest', () => {
    expect(refusal(() => settings({ env: { HOLDFAST_LIMITS: 'bodyByte=1' } }))).toBe(
      'HOLDFAST_LIMITS: There is no limit bodyByte. The nearest is bodyBytes',
    )
    expect(refusal(() => fromConfig({ limits: { depth: 1 } }))).toContain('The nearest is ')
  })
})

describe('a retention', () => {
  it('is made of names and whole numbers that there are', () => {
    expect(refusal(() => fromConfig({ retention: { eventMs: 1 } }))).toBe(
      'retention in holdfast.config.ts: There is no retention eventMs. The nearest is eventsMs',
    )
    for (const wrong of ['7d', 0, 1.5]) {
      expect(refusal(() => fromConfig({ retention: { threadsMs: wrong } }))).toContain(
        'is not a whole number from 1 on',
      )
    }
    expect(refusal(() => fromConfig({ retention: 7 }))).toContain('is not an object')
  })
})

describe('a limit', () => {
  it('is given once only', () => {
    expect(refusal(() => settings({ env: { HOLDFAST_LIMITS: 'treeDepth=1,jsonDepth=5,treeDepth=2' } }))).toBe(
      'HOLDFAST_LIMITS: treeDepth is given twice. Give each limit one value',
    )
  })
})

describe('the owner', () => {
  it('has one token only', () => {
    const env = { HOLDFAST_TOKEN: 'one', HOLDFAST_TOKENS: 'owner=two' }
    expect(refusal(() => settings({ env }))).toContain('Leave one of them out')
  })

  it('shares a token with nobody', () => {
    const env = { HOLDFAST_TOKEN: 'one', HOLDFAST_TOKENS: 'alice=one' }
    expect(refusal(() => settings({ env }))).toContain('the same token')
  })
})
