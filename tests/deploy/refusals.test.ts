import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CliEnd, type CliOptions, cli, RunningCli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { startServer } from '../postgres/harness/server.ts'
import { databaseServer } from './harness/database.ts'

const here = databaseServer()
const password = 'hunter2-is-secret'

/** A URL as given, with a user and a password in it. */
function as(url: string, user = 'holdfast', secret = password): string {
  const changed = new URL(url)
  changed.username = user
  changed.password = secret
  return changed.href
}

/** Starts a server that is expected to be refused. */
async function refused(store: string, command = 'serve', options: CliOptions = {}): Promise<CliEnd> {
  const folder = tempFolder()
  const env = { XDG_STATE_HOME: folder, HOLDFAST_LOG_LEVEL: 'debug', HOLDFAST_STORE: store }
  return cli([command, '--port', '0'], { folder, ...options, env })
}

/** What it says, without the line of the log that shows the settings; a password is in none of it. */
function saidIn({ stdout, stderr }: CliEnd): string {
  expect(stdout + stderr).not.toContain(password)
  expect(stdout).toBe('')
  return stderr.replace(/^\{.*\n/gm, '')
}

describe.each(['serve', 'dev'])('holdfast %s on a database', (command) => {
  it('starts, and shows the password nowhere', async () => {
    const folder = tempFolder()
    const { url } = await here().database()
    const server = await LocalServer.start({
      folder,
      args: [command, '--port', '0', '--store', as(url)],
      env: { HOLDFAST_LOG_LEVEL: 'debug' },
    })
    const shown = readFileSync(`/proc/${server.process.child.pid}/cmdline`, 'utf8')
    expect(shown).toContain('postgres://holdfast:***@127.0.0.1')
    const response = await fetch(`${server.url}/readyz`)
    expect(await response.text()).toContain('"postgres"')
    expect(await server.end('SIGTERM')).toBe(0)
    expect(server.process.stderr).toContain('127.0.0.1')
    expect(shown + server.process.stdout + server.process.stderr).not.toContain(password)
  })

  it('says in one line that the package pg is missing, and how it is installed', async () => {
    const hook = fileURLToPath(new URL('harness/without-pg.mjs', import.meta.url))
    const end = await refused(as('postgres://127.0.0.1:1/x'), command, { nodeFlags: ['--import', hook] })
    const line = 'holdfast: A store on PostgreSQL needs the package pg: install it with `npm install pg`\n'
    expect([end.code, saidIn(end)]).toEqual([1, line])
  })
})

describe('holdfast serve is refused with 1 and one line', () => {
  it('where no server answers', async () => {
    const end = await refused(as('postgres://127.0.0.1:1/x'))
    const line = /^holdfast: The store postgres:\/\/127\.0\.0\.1:1\/x is not available: it cannot be reached \(.+\)\n$/
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(line)])
  })

  it('by a wrong password, and starts with the right one, in the URL or in PGPASSWORD', async () => {
    const { url } = await here().database()
    const end = await refused(as(url, 'locked'))
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(/^holdfast: .*Check user and password.*\n$/)])
    const folder = tempFolder()
    const right = await LocalServer.start({ folder, env: { HOLDFAST_STORE: as(url, 'locked', 'right') } })
    expect(await right.end('SIGTERM')).toBe(0)
    const env = { HOLDFAST_STORE: url.replace('holdfast@', 'locked@'), PGPASSWORD: 'right' }
    expect(await (await LocalServer.start({ folder, env })).end('SIGTERM')).toBe(0)
  })

  it('where the database is not there', async () => {
    const end = await refused(as(here().server.url.replace(/postgres$/, 'nowhere')))
    expect([end.code, saidIn(end)]).toEqual([
      1,
      expect.stringMatching(/^holdfast: .*no such database\. Create it.*\n$/),
    ])
  })

  it('on a PostgreSQL before 14', async () => {
    const { url, query } = await here().database()
    // A server says its version by a function, which a function of the same name hides.
    await query('CREATE SCHEMA old')
    await query(`CREATE FUNCTION old.current_setting(name text) RETURNS text LANGUAGE sql AS $$
      SELECT CASE name WHEN 'server_version_num' THEN '130014' WHEN 'server_version' THEN '13.14'
        ELSE pg_catalog.current_setting(name) END $$`)
    const end = await refused(`${as(url)}?options=-c%20search_path%3Dold%2Cpg_catalog`)
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(/^holdfast: .*13\.14 is too old\. Use 14.*\n$/)])
  })

  it('on a server without fsync', async () => {
    const server = await startServer({ fsync: 'off' })
    try {
      const end = await refused(as(server.url))
      expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(/^holdfast: .*fsync is off.*Turn it on\n$/)])
    } finally {
      await server.stop()
    }
  })

  it('on a database without synchronous_commit', async () => {
    const { url, name, query } = await here().database()
    await query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    const end = await refused(as(url))
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(/^holdfast: .*synchronous_commit is off.*\n$/)])
  })

  it('on a database that takes no writes', async () => {
    const { url, name, query } = await here().database()
    await query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const end = await refused(as(url))
    const line = /^holdfast: .*default_transaction_read_only is on.*Turn it off.*\n$/
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(line)])
  })

  it('on a schema of a newer major', async () => {
    const { url, query } = await here().database()
    const folder = tempFolder()
    const server = await LocalServer.start({ folder, env: { HOLDFAST_STORE: url } })
    await server.end('SIGTERM')
    await query('UPDATE holdfast.meta SET major = 2')
    const end = await refused(as(url))
    expect([end.code, saidIn(end)]).toEqual([
      1,
      expect.stringMatching(/^holdfast: .*newer than 1\. Upgrade Holdfast\n$/),
    ])
  })

  it.each([
    ['postgres:h/d', 'not right'],
    [`postgres://me:1/${password}@h/d`, 'Write / ? # and @ of a password as'],
    [`postgres://me:1#${password}@h/d`, 'Write / ? # and @ of a password as'],
    [`postgress://me:${password}@h/d`, '"postgress:…" is no store'],
    [`postgres://me:${password}@h/d?schema=a-b`, 'A schema is'],
  ])('of the URL %s', async (url, words) => {
    const end = await refused(url)
    expect([end.code, saidIn(end)]).toEqual([1, expect.stringMatching(/^holdfast: .*\n$/)])
    expect(end.stderr).toContain(words)
  })
})

it('a password in a flag is gone from the list of processes once it was read, for other commands as well', async () => {
  const { server } = here()
  const command = new RunningCli(['serve', '--port', '0', '--store', `${as(server.url)}?password=${password}`], {
    folder: tempFolder(),
    env: { XDG_STATE_HOME: tempFolder() },
  })
  await command.until(/listening on/)
  expect(readFileSync(`/proc/${command.child.pid}/cmdline`, 'utf8')).not.toContain(password)
})
