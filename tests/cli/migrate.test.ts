import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { cli } from './harness/cli.ts'
import { LocalServer, tempFolder } from './harness/local-server.ts'

const migrations = new URL('../../src/stores/sqlite/migrations/', import.meta.url)
const newest = `1.${readdirSync(migrations).length}`

function migrate(folder: string, ...flags: string[]) {
  return cli(['migrate', ...flags], { folder, env: { XDG_STATE_HOME: folder } })
}

/** A store as the first release left it. */
function oldStore(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(readFileSync(new URL('0001_initial.sql', migrations), 'utf8'))
  database.exec('UPDATE holdfast_meta SET minor = 1, next_task = 7')
  database.close()
}

describe('holdfast migrate', () => {
  it('makes a store that is not there, for its owner alone, and then has nothing to do', async () => {
    const folder = tempFolder()
    const path = join(folder, 'holdfast', 'holdfast.db')
    expect(await migrate(folder, '--check')).toMatchObject({
      code: 1,
      stdout: `${path}: schema none → ${newest}, due\n`,
    })
    expect(existsSync(path)).toBe(false)
    expect(await migrate(folder)).toMatchObject({ code: 0, stdout: `${path}: schema none → ${newest}\n`, stderr: '' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const upToDate = `${path}: schema ${newest}, up to date\n`
    expect(await migrate(folder, '--check')).toMatchObject({ code: 0, stdout: upToDate })
    expect(await migrate(folder)).toMatchObject({ code: 0, stdout: upToDate })
  })

  it('brings an older store up to date, and keeps what is in it', async () => {
    const folder = tempFolder()
    const path = join(folder, 'old.db')
    oldStore(path)
    const store = ['--store', 'sqlite:./old.db']
    expect(await migrate(folder, ...store, '--check')).toMatchObject({
      code: 1,
      stdout: `${path}: schema 1.1 → ${newest}, due\n`,
    })
    const { stdout, code } = await migrate(folder, ...store, '--json')
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, store: path, from: '1.1', to: newest, isDue: false })
    const server = await LocalServer.start({ folder, args: ['serve', '--port', '0', ...store] })
    expect(await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'on' })).toMatchObject({ id: 'bg_7' })
  })

  it('is refused while a server has the store open', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder })
    const refused = await migrate(folder)
    expect(refused).toMatchObject({ code: 6, stdout: '' })
    expect(refused.stderr).toMatch(/^holdfast: The store \S+ is in use by another process\. Stop that one first/)
    expect(await migrate(folder, '--check')).toMatchObject({ code: 0 })
    expect(await server.end('SIGTERM')).toBe(0)
    expect(await migrate(folder)).toMatchObject({ code: 0 })
  })

  it('leaves a store of a newer minor as it is, and refuses one of a newer major', async () => {
    const folder = tempFolder()
    await migrate(folder)
    const database = new DatabaseSync(join(folder, 'holdfast', 'holdfast.db'))
    database.exec('UPDATE holdfast_meta SET minor = 99')
    expect(await migrate(folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('schema 1.99, up to date') })
    database.exec('UPDATE holdfast_meta SET major = 2')
    database.close()
    expect(await migrate(folder)).toMatchObject({ code: 1, stderr: expect.stringContaining('Upgrade Holdfast') })
  })

  it('refuses a store that has no schema', async () => {
    const folder = tempFolder()
    expect(await migrate(folder, '--store', 'memory:')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no schema'),
    })
  })
})
