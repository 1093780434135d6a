import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/cli/settings/config-file.ts'
import { settingNames } from '../../src/cli/settings/setting-names.ts'
import { readSettings, variableNames } from '../../src/cli/settings/settings.ts'
import { OwnedProcess } from './harness/owned-process.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
// Of the programs that the commands use, a machine may lack some.
const missing = ['curl', 'openssl', 'sqlite3'].filter((tool) => spawnSync('which', [tool]).status !== 0)
const commands = [...page.matchAll(/^```sh\n(.*?)\n```$/gms)].flatMap((match) => match[1] ?? [])
const starts = commands.filter((command) => command.includes('holdfast serve'))
const others = commands.filter((command) => !command.includes('holdfast serve'))

let home = ''
let processes: OwnedProcess[] = []

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-operations-'))
  writeFileSync(join(home, 'holdfast'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/holdfast.js' "$@"\n`)
  chmodSync(join(home, 'holdfast'), 0o755)
})

afterAll(async () => {
  for (const each of processes) await each.end('SIGKILL')
  processes = []
  rmSync(home, { recursive: true, force: true })
})

function isRunnable(command: string): boolean {
  return !missing.some((tool) => command.includes(tool))
}

/** Starts a server as the page says, in the home folder of this test, on a free port. */
async function start(command: string): Promise<{ readonly server: OwnedProcess; readonly url: string }> {
  const script = command.replace(/holdfast serve(?!.*--port)/, 'exec holdfast serve --port 0')
  const env = { HOME: home, PATH: `${home}${delimiter}${process.env['PATH']}` }
  const server = new OwnedProcess({
    program: '/bin/sh',
    arguments: ['-c', script.replace(/^holdfast/, 'exec holdfast')],
    env,
    folder: home,
  })
  processes.push(server)
  const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
  return { server, url }
}

describe('docs/operations.md', () => {
  it('has commands that do what it says, in their order', async () => {
    expect([starts.length, others.length]).toEqual([4, 4])
    const { server, url } = await start(starts[0] ?? '')
    for (const command of others.filter(isRunnable)) {
      const script = command.replaceAll('http://127.0.0.1:4747', url)
      execFileSync('/bin/sh', ['-ec', script], {
        cwd: home,
        env: { ...process.env, HOME: home, PATH: `${home}${delimiter}${process.env['PATH']}` },
        stdio: 'pipe',
      })
    }
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    for (const command of starts.slice(1).filter(isRunnable)) {
      const { server: next } = await start(command)
      expect(await next.end('SIGTERM')).toEqual({ code: 0, signal: null })
    }
  })

  it('has a config file that can be loaded', async () => {
    const [, text = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? []
    writeFileSync(join(home, 'holdfast.config.ts'), text)
    const config = await loadConfig(undefined, home)
    rmSync(join(home, 'holdfast.config.ts'))
    const settings = readSettings({ flags: {}, env: {}, ...(config && { config }) })
    expect(settings).toMatchObject({ hosts: ['app.example'], limits: { bodyBytes: 4 * 1024 * 1024 } })
    expect(Object.keys(settings.agents)).toEqual(['greeter'])
  })

  it('lists every setting, and none that is not there', () => {
    const rows = [...page.matchAll(/^\| (?:`--[a-z]+`)? ?\| (?:`(HOLDFAST_\w+)`)? ?\| (?:`(\w+)`)? ?\|/gm)]
    expect(rows.flatMap((row) => row[1] ?? []).toSorted()).toEqual(variableNames.toSorted())
    expect(rows.flatMap((row) => row[2] ?? []).toSorted()).toEqual(settingNames.toSorted())
  })

  it('names metrics that there are', async () => {
    const { server, url } = await start('HOLDFAST_TOKEN=x holdfast serve')
    const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer x' } })).text()
    const named = new Set([...page.matchAll(/`(holdfast_\w+)`/g)].flatMap((match) => match[1] ?? []))
    expect(named.size).toBe(14)
    for (const name of named) expect(metrics).toContain(`# TYPE ${name} `)
    await server.end('SIGKILL')
  })
})
