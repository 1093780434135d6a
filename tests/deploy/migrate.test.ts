import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CliEnd, cli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { databaseServer } from './harness/database.ts'

const here = databaseServer()
const migrations = new URL('../../src/stores/postgres/migrations/', import.meta.url)
const newest = `1.${readdirSync(migrations).length}`

function migrate(store: string, ...flags: string[]): Promise<CliEnd> {
  const folder = tempFolder()
  return cli(['migrate', ...flags], { folder, env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: store } })
}

function node(store: string): Promise<LocalServer> {
  return LocalServer.start({ folder: tempFolder(), env: { HOLDFAST_STORE: store } })
}

describe('holdfast migrate on a database', () => {
  it('makes the schema, says so, and then has nothing to do', async () => {
    const { url, query } = await here().database()
    const name = url.replace('holdfast@', '')
    const due = { code: 1, stdout: `${name}: schema none → ${newest}, due\n` }
    expect(await migrate(url, '--check')).toMatchObject(due)
    expect(await query(`SELECT FROM pg_namespace WHERE nspname = 'holdfast'`)).toEqual([])
    expect(await migrate(url)).toMatchObject({ code: 0, stdout: `${name}: schema none → ${newest}\n`, stderr: '' })
    const upToDate = { code: 0, stdout: `${name}: schema ${newest}, up to date\n` }
    expect(await migrate(url, '--check')).toMatchObject(upToDate)
    expect(await migrate(url)).toMatchObject(upToDate)
    const { stdout } = await migrate(url, '--json')
    expect(JSON.parse(stdout)).toEqual({ store: name, from: newest, to: newest, isDue: false })
  })

  it('may be done beside nodes at work', async () => {
    const { url } = await here().database()
    const server = await node(url)
    expect(await migrate(url)).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') })
    expect(await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'on' })).toMatchObject({ id: 'bg_0' })
  })

  it('leaves a newer minor as it is, and refuses a newer major', async () => {
    const { url, query } = await here().database()
    await migrate(url)
    await query('UPDATE holdfast.meta SET minor = 99')
    expect(await migrate(url)).toMatchObject({ code: 0, stdout: expect.stringContaining('schema 1.99, up to date') })
    await query('UPDATE holdfast.meta SET major = 2')
    expect(await migrate(url)).toMatchObject({ code: 1, stderr: expect.stringContaining('Upgrade Holdfast') })
  })

  it('tells which server cannot be reached, and not the password', async () => {
    const { code, stderr } = await migrate('postgres://me:hidden@127.0.0.1:1/x')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^holdfast: The store postgres:\/\/127\.0\.0\.1:1\/x is not available: .*\n$/)
    expect(stderr).not.toContain('hidden')
  })

  it('is done once by three nodes that start together on an empty database, and all come up', async () => {
    const { url, query } = await here().database()
    const nodes = await Promise.all([node(url), node(url), node(url)])
    const runs = nodes.map((each, n) =>
      each.post<{ id: string }>(`/v1/threads/t${n}/runs`, { agent: 'echo', prompt: 'hi' }),
    )
    const ids = (await Promise.all(runs)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    for (const [n, id] of ids.entries()) {
      const other = nodes[(n + 1) % 3]
      expect(await other?.follow(`/v1/threads/t${n}/events?task=${id}`)).toContain('task.completed')
    }
    expect(await query('SELECT major, minor FROM holdfast.meta')).toEqual([
      { major: 1, minor: readdirSync(migrations).length },
    ])
    expect(await Promise.all(nodes.map((each) => each.end('SIGTERM')))).toEqual([0, 0, 0])
  })
})

describe('holdfast prune on a database', () => {
  it('removes what is old through a node, as it does on a file', async () => {
    const { url, query } = await here().database()
    const server = await node(url)
    const { id } = await server.post<{ id: string }>('/v1/threads/t/runs', { agent: 'echo', prompt: 'hi' })
    await server.follow(`/v1/threads/t/events?task=${id}`)
    const env = { HOLDFAST_URL: server.url, HOLDFAST_TOKEN: LocalServer.token }
    const { code, stdout } = await cli(['prune', '--keep-events', '1', '--json'], { env })
    const [log] = await query<{ first: number; head: number }>(
      'SELECT first::integer, head::integer FROM holdfast.threads',
    )
    const { first = 0, head = 0 } = log ?? {}
    expect([code, JSON.parse(stdout)]).toEqual([0, { threads: 0, events: first - 1, tasks: 0 }])
    expect(first).toBeGreaterThan(1)
    expect(first).toBeLessThanOrEqual(head)
  })
})

describe('holdfast backup of a database', () => {
  it('says which command to use instead, without the password, and ends with 2', async () => {
    const folder = tempFolder()
    const store = 'postgres://me:hidden@db.example:5433/app?schema=mine&sslmode=require&application_name=x'
    const end = await cli(['backup', "it's.dump"], { folder, env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: store } })
    const command = `pg_dump --format=custom --schema=mine --file='it'\\''s.dump' 'postgres://me@db.example:5433/app?sslmode=require'`
    expect(end).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(command) })
    expect(end.stderr).not.toContain('hidden')
  })
})
