import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { cli } from './harness/cli.ts'
import { LocalServer, tempFolder } from './harness/local-server.ts'
import { TerminalScreen } from './harness/terminal.ts'

interface Doctored {
  readonly code: number | string
  readonly isFine: boolean
  readonly checks: readonly Check[]
  of(name: string): Check | undefined
}

/** Nobody listens on the port of discard here. */
const nowhere = 'http://127.0.0.1:9'

async function doctor(folder: string, env: Record<string, string> = {}, ...flags: string[]): Promise<Doctored> {
  const { code, stdout } = await cli(['doctor', '--json', ...flags], {
    folder,
    env: { XDG_STATE_HOME: folder, HOLDFAST_URL: nowhere, ...env },
  })
  const { isFine, checks } = JSON.parse(stdout) as Pick<Doctored, 'isFine' | 'checks'>
  return { code, isFine, checks, of: (name) => checks.find((check) => check.name === name) }
}

/** Every file of a folder with its size, its rights and when it was written to. */
function pictureOf(folder: string): unknown {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return names.map((name) => {
    const { size, mode, mtimeMs } = statSync(join(folder, name))
    return { name, size, mode, mtimeMs }
  })
}

/** A folder with a store and a token, as a server that has stopped leaves it. */
async function usedFolder(): Promise<string> {
  const folder = tempFolder()
  const server = await LocalServer.start({ folder, args: ['serve', '--port', '0'] })
  await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'hi' })
  await server.end('SIGTERM')
  writeFileSync(join(folder, 'holdfast', 'token'), `${'t'.repeat(43)}\n`, { mode: 0o600 })
  return folder
}

describe('holdfast doctor', () => {
  it('finds nothing wrong with a machine that has nothing yet, and leaves it so', async () => {
    const folder = tempFolder()
    const found = await doctor(folder)
    expect(found).toMatchObject({ code: 0, isFine: true })
    expect(found.checks.map(({ name, status }) => `${status} ${name}`)).toEqual([
      'ok node',
      'ok config',
      'ok settings',
      'note state folder',
      'note token',
      'note store',
      'ok disk',
      'ok clock',
      'note server',
    ])
    expect(readdirSync(folder)).toEqual([])
  })

  it('finds nothing wrong with a store that is whole, and changes nothing of it', async () => {
    const folder = await usedFolder()
    const before = pictureOf(folder)
    const found = await doctor(folder)
    expect(found).toMatchObject({ code: 0, isFine: true })
    expect(found.checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual(['server'])
    expect(pictureOf(folder)).toEqual(before)
  })

  it('says which server has the store open, and that it takes work', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder })
    const found = await doctor(folder, { HOLDFAST_URL: server.url, HOLDFAST_TOKEN: LocalServer.token })
    expect(found).toMatchObject({ code: 0, isFine: true })
    expect(found.of('store')?.finding).toContain('a server has it open')
    expect(found.of('server')).toMatchObject({
      status: 'ok',
      finding: `${server.url}/ answers and takes work (sqlite)`,
    })
    expect(await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'still there' })).toMatchObject({})
  })

  it('tells a store that is open where no server answers, and a server that is on another store', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder })
    const held = await doctor(folder)
    expect(held).toMatchObject({ code: 1, isFine: false })
    expect(held.of('server')).toMatchObject({ status: 'wrong', advice: expect.stringContaining('--url') })
    const asOwner = { HOLDFAST_TOKEN: LocalServer.token }
    const other = await doctor(folder, asOwner, '--url', server.url, '--store', 'sqlite:./other.db')
    expect(other.of('server')).toMatchObject({ status: 'note', finding: expect.stringContaining('another store') })
  })

  it('tells a token that the server refuses, and where it was taken from', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder })
    const refused = { status: 'wrong', advice: 'Give the token of that server with --token or HOLDFAST_TOKEN' }
    const said = (what: string) => ({ ...refused, finding: `${server.url}/ answers, but ${what}` })
    const env = { HOLDFAST_URL: server.url, HOLDFAST_TOKEN: 'wrong' }
    const byVariable = await doctor(folder, env)
    expect(byVariable).toMatchObject({ code: 1, isFine: false })
    expect(byVariable.of('server')).toMatchObject(said('refuses the token of HOLDFAST_TOKEN'))
    const byFlag = await doctor(folder, { ...env, HOLDFAST_TOKEN: LocalServer.token }, '--token', 'wrong')
    expect(byFlag.of('server')).toMatchObject(said('refuses the token of --token'))
    expect((await doctor(folder, { HOLDFAST_URL: server.url })).of('server')).toMatchObject(said('wants a token'))
    const file = join(folder, 'holdfast', 'token')
    writeFileSync(file, 'wrong-too', { mode: 0o600 })
    const ofFile = await doctor(folder, { HOLDFAST_URL: server.url })
    expect(ofFile.of('server')).toMatchObject(said(`refuses the token of the file ${file}`))
  })

  it('tells what others can read, and how to mend it', async () => {
    const folder = await usedFolder()
    const state = join(folder, 'holdfast')
    chmodSync(state, 0o755)
    chmodSync(join(state, 'token'), 0o644)
    chmodSync(join(state, 'holdfast.db'), 0o640)
    const found = await doctor(folder)
    expect(found.code).toBe(1)
    expect(found.of('state folder')).toMatchObject({ status: 'wrong', advice: `chmod 700 ${state}` })
    expect(found.of('token')).toMatchObject({
      status: 'wrong',
      finding: expect.stringContaining('can be read by others'),
    })
    expect(found.of('store rights')).toMatchObject({ status: 'wrong', advice: `chmod 600 ${state}/holdfast.db*` })
  })

  it('tells a schema that is older, newer, or of another program', async () => {
    const folder = await usedFolder()
    const database = new DatabaseSync(join(folder, 'holdfast', 'holdfast.db'))
    database.exec('UPDATE holdfast_meta SET minor = minor - 1')
    expect((await doctor(folder)).of('schema')).toMatchObject({
      status: 'note',
      advice: expect.stringContaining('holdfast migrate'),
    })
    database.exec('UPDATE holdfast_meta SET major = 2')
    expect((await doctor(folder)).of('store')).toMatchObject({
      status: 'wrong',
      finding: expect.stringContaining('Upgrade Holdfast'),
    })
    database.exec('DROP TABLE holdfast_meta')
    database.close()
    expect(await doctor(folder)).toMatchObject({ code: 1 })
  })

  it('tells by agent what a server left behind that is gone', async () => {
    const folder = tempFolder()
    const hang = { agent: 'script', input: { script: [{ hang: true }] } }
    const server = await LocalServer.start({ folder })
    for (const thread of ['a', 'b', 'c']) {
      const { id } = await server.post<{ id: string }>(`/v1/threads/${thread}/runs`, hang)
      await server.follow(`/v1/threads/${thread}/events?task=${id}`, /task\.started/)
    }
    const atWork = await doctor(folder, { HOLDFAST_URL: server.url })
    expect(atWork.of('tasks')).toEqual({ name: 'tasks', status: 'ok', finding: 'None was left behind' })
    await server.end('SIGKILL')
    const database = new DatabaseSync(join(folder, 'holdfast', 'holdfast.db'))
    database.exec(`UPDATE tasks SET agent = 'gone' WHERE id <> 'bg_0'`)
    database.close()
    expect((await doctor(folder)).of('tasks')).toMatchObject({
      status: 'note',
      finding: '3 tasks belong to a server that is gone: 2 of gone, 1 of script',
      advice: 'The next start goes on with those whose agents it has',
    })
    const next = await LocalServer.start({ folder })
    await next.follow('/v1/threads/a/events', /task\.resumed/)
    expect((await doctor(folder, { HOLDFAST_URL: next.url })).of('tasks')).toMatchObject({
      status: 'note',
      finding: '2 tasks belong to a server that is gone: 2 of gone',
      advice: expect.stringContaining('config file'),
    })
    // Nobody tells which server has the store.
    expect((await doctor(folder)).of('tasks')).toBeUndefined()
  })

  it('tells damage', async () => {
    const folder = await usedFolder()
    const path = join(folder, 'holdfast', 'holdfast.db')
    const bytes = readFileSync(path)
    bytes.fill(0xff, 3 * 8_192, 12 * 8_192)
    writeFileSync(path, bytes)
    const found = await doctor(folder)
    expect(found.code).toBe(1)
    expect(found.checks.filter(({ status }) => status === 'wrong')).toMatchObject([{ name: /integrity|store/ }])
  })

  it('tells a clock that is behind the store', async () => {
    const folder = await usedFolder()
    const database = new DatabaseSync(join(folder, 'holdfast', 'holdfast.db'))
    database.exec('UPDATE threads SET at = at + 86400000')
    database.close()
    expect((await doctor(folder)).of('clock')).toMatchObject({
      status: 'wrong',
      advice: expect.stringContaining('clock'),
    })
  })

  it('tells what is wrong with the settings and the config file, and looks at the rest all the same', async () => {
    const folder = tempFolder()
    const misspelt = await doctor(folder, { HOLDFAST_STROE: 'memory:' })
    expect(misspelt).toMatchObject({ code: 1 })
    expect(misspelt.of('settings')?.finding).toContain('The nearest is HOLDFAST_STORE')
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default { prot: 1 }')
    expect((await doctor(folder)).checks.filter(({ status }) => status === 'wrong')).toMatchObject([
      { name: 'settings' },
    ])
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default {')
    const broken = await doctor(folder)
    expect(broken.of('config')).toMatchObject({ status: 'wrong', finding: expect.stringContaining('cannot be loaded') })
    expect(broken.of('disk')).toBeUndefined()
    expect(broken.of('state folder')).toBeDefined()
  })

  it('asks the server of the config file that is named, though another beside it cannot be loaded', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default {')
    writeFileSync(join(folder, 'good.config.ts'), `export default { url: '${nowhere}' }`)
    const env = { XDG_STATE_HOME: folder }
    const { code, stdout } = await cli(['doctor', '--config', 'good.config.ts'], { folder, env })
    expect(code).toBe(0)
    expect(stdout).toContain('ok\tconfig\tgood.config.ts is loaded')
    expect(stdout).toContain(`note\tserver\tNone answers at ${nowhere}`)
  })

  it('never tells a secret', async () => {
    const folder = await usedFolder()
    mkdirSync(join(folder, 'odd'))
    const env = { XDG_STATE_HOME: folder, HOLDFAST_TOKEN: 'spaced secret', HOLDFAST_TOKENS: 'bob=hidden-secret' }
    const refused = await cli(['doctor'], { folder, env })
    expect(refused.code).toBe(1)
    const { HOLDFAST_TOKEN: _, ...right } = env
    const fine = await cli(['doctor'], { folder, env: right })
    for (const { stdout, stderr } of [refused, fine]) expect(stdout + stderr).not.toMatch(/secret|tttt/)
    expect(fine.stdout).toContain('ok\ttoken\tConfigured for bob')
  })

  it('has a line for each check, with tabs in a pipe, and with a glyph and a word on a terminal', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder, HOLDFAST_URL: nowhere }
    const piped = await cli(['doctor'], { folder, env })
    expect(piped.stdout.split('\n')[0]).toBe(`ok\tnode\tNode ${process.versions.node}\t`)
    expect(piped.stderr).toBe('Nothing is wrong.\n')
    const screen = new TerminalScreen(['doctor', '--store', 'memory:'], { folder, env, columns: 160 })
    expect(await screen.ended).toBe(0)
    expect(screen.text).toMatch(/^✔ ok {4}node {12}Node 24\S+\n/)
    expect(screen.text).toMatch(/^! note {2}store {11}memory:, which forgets everything/m)
    expect(screen.received).toContain('\u001b[32m✔')
    const plain = new TerminalScreen(['doctor', '--store', 'memory:'], { folder, env: { ...env, NO_COLOR: '1' } })
    expect(await plain.ended).toBe(0)
    expect(plain.received).not.toContain('\u001b[3')
  })
})
