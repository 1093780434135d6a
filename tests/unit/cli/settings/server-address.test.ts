import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serverAddress } from '../../../../src/cli/settings/server-address.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-address-'))
  warnings = []
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

type Flags = Parameters<typeof serverAddress>[0]

let warnings: string[] = []

function address(flags: Flags = {}, env: Readonly<Record<string, string>> = {}) {
  const around = { env: { XDG_STATE_HOME: join(folder, 'state'), ...env }, folder }
  return serverAddress(flags, around, (message) => void warnings.push(message))
}

function configure(text: string): void {
  writeFileSync(join(folder, 'holdfast.config.ts'), `export default ${text}`)
}

function makeToken(): void {
  mkdirSync(join(folder, 'state', 'holdfast'), { recursive: true })
  writeFileSync(join(folder, 'state', 'holdfast', 'token'), 'made\n')
}

describe('the address of the server', () => {
  it('is the one of this machine, with the token it made, unless something else is said', async () => {
    expect(await address()).toEqual({ url: 'http://127.0.0.1:4747' })
    makeToken()
    const tokenFrom = `the file ${join(folder, 'state', 'holdfast', 'token')}`
    expect(await address()).toEqual({ url: 'http://127.0.0.1:4747', token: 'made', tokenFrom })
    expect(await address({ url: 'http://localhost:1' })).toMatchObject({ token: 'made' })
  })

  it('of another machine is not told the token of this one', async () => {
    makeToken()
    expect(await address({ url: 'https://holdfast.example' })).toEqual({ url: 'https://holdfast.example/' })
    expect(await address({ url: 'http://127.evil.example' })).toEqual({ url: 'http://127.evil.example/' })
  })

  it('is that of the flag before the variable, of the variable before the config file', async () => {
    configure("{ url: 'http://config:1/', token: 'of-config' }")
    const configured = { token: 'of-config', tokenFrom: `the config file ${join(folder, 'holdfast.config.ts')}` }
    expect(await address()).toEqual({ url: 'http://config:1/', ...configured })
    const env = { HOLDFAST_URL: 'http://env:2/', HOLDFAST_TOKEN: 'of-env' }
    expect(await address({}, env)).toEqual({ url: 'http://env:2/', token: 'of-env', tokenFrom: 'HOLDFAST_TOKEN' })
    expect(await address({ url: 'http://flag:3/', token: 'of-flag' }, env)).toEqual({
      url: 'http://flag:3/',
      token: 'of-flag',
      tokenFrom: '--token',
    })
    expect(await address({ url: 'http://flag:3/' })).toEqual({ url: 'http://flag:3/', ...configured })
  })

  it.each([
    ['{ port: 5000 }', 'http://127.0.0.1:5000/'],
    ["{ host: '0.0.0.0', port: 5000 }", 'http://127.0.0.1:5000/'],
    ["{ host: '::' }", 'http://127.0.0.1:4747/'],
    ["{ host: '::1', port: 0 }", 'http://[::1]:4747/'],
    ["{ host: 'box' }", 'http://box:4747/'],
  ])('is where the server of the config file %s listens', async (config, url) => {
    configure(config)
    expect(await address()).toEqual({ url })
  })

  it('takes the token of the owner from the tokens of the config file', async () => {
    configure("{ tokens: { owner: 'o', alice: 'a' } }")
    expect(await address()).toMatchObject({ token: 'o' })
  })

  it('does not run the config file if nothing of it is needed', async () => {
    configure('(() => { throw new Error("run") })()')
    await expect(address({ url: 'http://x:1', token: 't' })).resolves.toMatchObject({ url: 'http://x:1/' })
    expect(warnings).toEqual([])
  })

  it('is found without a config file that cannot be loaded if it was said, with a warning', async () => {
    configure('(() => { throw new Error("no secret") })()')
    makeToken()
    const url = 'http://127.0.0.1:4760'
    expect(await address({ url })).toMatchObject({ url: `${url}/`, token: 'made' })
    expect(warnings).toEqual([
      'The config file holdfast.config.ts cannot be loaded: no secret; this command does without it',
    ])
  })

  it('is not guessed where a config file cannot be loaded that may say it', async () => {
    configure('(() => { throw new Error("no secret") })()')
    makeToken()
    const refusal = 'cannot be loaded: no secret. Say which server with --url or HOLDFAST_URL'
    await expect(address({ token: 't' })).rejects.toThrow(refusal)
    await expect(address()).rejects.toThrow(refusal)
    expect(warnings).toEqual([])
  })

  it('is that of the config file that is named, whatever is beside it', async () => {
    configure('(() => { throw new Error("no secret") })()')
    writeFileSync(join(folder, 'good.config.ts'), "export default { url: 'http://named:1/', token: 'of-named' }")
    const tokenFrom = `the config file ${join(folder, 'good.config.ts')}`
    expect(await address({ config: 'good.config.ts' })).toEqual({
      url: 'http://named:1/',
      token: 'of-named',
      tokenFrom,
    })
    expect(warnings).toEqual([])
  })

  it.each(['localhost:4747/?token=SECRET', 'htp://h/?token=SECRET', 'htp://h/#SECRET', 'u:SECRET@h', 'h?SECRET'])(
    'is not repeated where it is no URL and may hold a secret: %s',
    async (url) => {
      const refusal = 'This is no URL of a server, such as http://127.0.0.1:4747'
      await expect(address({ url })).rejects.toThrow(`--url: ${refusal}`)
      configure(`{ url: { href: '${url}' } }`)
      await expect(address()).rejects.toThrow(`url in holdfast.config.ts: ${refusal}`)
    },
  )

  it('is refused where it is no URL, and a setting that does not exist names the nearest', async () => {
    await expect(address({ url: 'localhost' })).rejects.toThrow('--url: "localhost" is no URL of a server')
    await expect(address({ url: 'ftp://x' })).rejects.toThrow('--url: "ftp://x" is no URL of a server')
    await expect(address({}, { HOLDFAST_URL: 'x' })).rejects.toThrow('HOLDFAST_URL: "x" is no URL')
    await expect(address({}, { HOLDFAST_URL: '' })).rejects.toThrow('HOLDFAST_URL is empty')
    await expect(address({}, { HOLDFAST_TOKEN: '' })).rejects.toThrow('HOLDFAST_TOKEN is empty')
    configure("{ urll: 'http://x' }")
    await expect(address()).rejects.toThrow(
      'There is no setting urll, which holdfast.config.ts has. The nearest is url',
    )
  })

  it('is refused where the config file has no URL for it', async () => {
    configure('{ url: 5 }')
    await expect(address()).rejects.toThrow('url in holdfast.config.ts: 5 is no URL')
  })
})
