import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectionsPerNode } from '../../src/stores/postgres/index.ts'
import { locate } from '../../src/stores/postgres/location.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { databaseServer } from './harness/database.ts'
import { fileText, root } from './harness/formats.ts'
import { installedPrograms, startInstalled } from './harness/installed-postgres.ts'

const here = databaseServer()
const programs = installedPrograms()
const operations = fileText('docs/operations.md')
const scaling = fileText('docs/scaling.md')

interface Documented {
  readonly line: string
  readonly code: number
}

function sectionOf(page: string, heading: string): string {
  return page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
}

/** The commands under a heading of the second level, in their order. A comment says how one ends that does not end with 0. */
function commandsUnder(page: string, heading: string): readonly Documented[] {
  const blocks = [...sectionOf(page, heading).matchAll(/^```console\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
  const lines = blocks.flatMap((block) => [...block.matchAll(/^\$ (.*)$/gm)].flatMap((match) => match[1] ?? []))
  return lines.map((line) => ({ line, code: Number(/# exits with (\d+)$/.exec(line)?.[1] ?? 0) }))
}

/** The statements under a heading, in one text. */
function sqlUnder(page: string, heading: string): string {
  return [...sectionOf(page, heading).matchAll(/^```sql\n(.*?)^```$/gms)].map((match) => match[1] ?? '').join('')
}

/** A folder in which `holdfast` is the program. */
function home(): string {
  const folder = tempFolder()
  writeFileSync(join(folder, 'holdfast'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/holdfast.js' "$@"\n`)
  chmodSync(join(folder, 'holdfast'), 0o755)
  return folder
}

async function runAll(commands: readonly Documented[], store: string, server?: LocalServer): Promise<void> {
  expect(commands.length).toBeGreaterThan(0)
  const folder = home()
  const client = server && { HOLDFAST_URL: server.url, HOLDFAST_TOKEN: LocalServer.token }
  const PATH = `${folder}${delimiter}${process.env['PATH'] ?? ''}`
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), PATH, HOLDFAST_STORE: store, ...client }
  for (const { line, code } of commands) {
    const isEndless = line.startsWith('holdfast serve')
    const args = ['-c', isEndless ? `exec ${line}` : line]
    const command = new OwnedProcess({ program: '/bin/bash', arguments: args, env, folder })
    onTestFinished(async () => void (await command.end('SIGKILL')))
    if (isEndless) {
      await command.line(/^holdfast listening on /)
      command.signal('SIGTERM')
    }
    const end = await command.ended
    expect(end.code, [line, ...command.stdout, ...command.stderr].join('\n')).toBe(code)
  }
}

function node(store: string): Promise<LocalServer> {
  return LocalServer.start({ folder: tempFolder(), env: { HOLDFAST_STORE: store } })
}

describe('docs/operations.md', () => {
  it('has commands that start on a database', async () => {
    await runAll(commandsUnder(operations, 'Start'), (await here().database()).url)
  })

  it('has commands that upgrade a database', async () => {
    await runAll(commandsUnder(operations, 'Upgrade'), (await here().database()).url)
  })

  it('grants a user that may not change the schema all that a node needs', async () => {
    const { url, query } = await here().database()
    await query('CREATE ROLE nodes LOGIN')
    await runAll([{ line: 'holdfast migrate', code: 0 }], url)
    const store = url.replace('holdfast@', 'nodes@')
    await runAll([{ line: 'holdfast doctor', code: 1 }], store)
    await query(sqlUnder(operations, 'Upgrade'))
    await runAll([{ line: 'holdfast doctor', code: 0 }], store)
    const server = await node(store)
    const { id } = await server.post<{ id: string }>('/v1/threads/t/runs', { agent: 'echo', prompt: 'hi' })
    expect(await server.follow(`/v1/threads/t/events?task=${id}`)).toContain('task.completed')
  })

  it.skipIf(programs === undefined)('has commands that copy a database and bring it back', async () => {
    const url = await startInstalled(programs ?? '')
    const before = await node(url)
    const { id } = await before.post<{ id: string }>('/v1/threads/t/runs', { agent: 'echo', prompt: 'kept' })
    const log = await before.follow(`/v1/threads/t/events?task=${id}`)
    expect(log).toContain('task.completed')
    await before.end('SIGTERM')
    await runAll(commandsUnder(operations, 'Back up and restore'), url)
    const after = await node(url)
    expect(await after.follow(`/v1/threads/t/events?task=${id}`)).toBe(log)
    expect(await after.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'on' })).not.toMatchObject({ id })
  })

  it('has commands for what is stuck, which end as it says', async () => {
    const { url } = await here().database()
    const isRunnable = ({ line }: Documented) => programs !== undefined || !/\b(psql|pg_\w+)\b/.test(line)
    await runAll(commandsUnder(operations, 'When something is wrong').filter(isRunnable), url, await node(url))
  })
})

describe('docs/scaling.md', () => {
  it('has commands that end as it says', async () => {
    const { url } = await here().database()
    await runAll(commandsUnder(scaling, 'When one node is enough'), url)
    await runAll(commandsUnder(scaling, 'Connections and poolers'), url)
  })

  it('counts connections as the code opens them', () => {
    expect(scaling).toContain(
      `| connections | ${connectionsPerNode} per node at most: ${connectionsPerNode - 6} that read, 2 `,
    )
    expect(scaling).toContain(`has to hold ${connectionsPerNode} for each node`)
    expect(scaling).toContain(`${3 * connectionsPerNode} connections`)
  })

  it('counts bytes and events right', () => {
    const bytesPerEvent = 430
    expect(scaling).toContain(`| bytes per event | ${bytesPerEvent} at most`)
    const portal = 2_000 * 50 * 400
    expect([portal / 1e6, Math.round((portal * bytesPerEvent) / 1e9)]).toEqual([40, 17])
    expect([Math.round(portal / 86_400 / 10) * 10, Math.round((7 * portal * bytesPerEvent) / 1e9)]).toEqual([460, 120])
    expect(scaling).toMatch(/40 million events a day, 17 GB at most; 460 events per second/)
    const agents = 1_000 * 20 * 86_400
    expect([(agents / 1e9).toFixed(1), Math.round((agents * bytesPerEvent) / 1e9)]).toEqual(['1.7', 743])
    expect(scaling).toMatch(/20,000 events per second, 1\.7 thousand million a day, 743 GB a day/)
  })

  it('has a URL for TLS that is one', () => {
    const [url = ''] = /^postgres:\/\/\S+$/m.exec(scaling) ?? []
    expect(locate(url)).toMatchObject({ schema: 'holdfast', name: 'postgres://db.example/holdfast' })
  })
})

describe('a node', () => {
  it('opens no more connections than it is said to', async () => {
    const { url, query } = await here().database()
    const server = await node(url)
    const count = async () => {
      const sql = `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = current_database()`
      return (await query<{ count: number }>(sql))[0]?.count ?? 0
    }
    const reads = Array.from({ length: 100 }, (_, n) => server.get(`/v1/threads?limit=${(n % 50) + 1}`))
    const runs = Array.from({ length: 50 }, (_, n) =>
      server.post(`/v1/threads/t${n}/runs`, { agent: 'echo', prompt: 'hi' }),
    )
    await Promise.all([...reads, ...runs])
    expect(await count()).toBeLessThanOrEqual(connectionsPerNode)
  })
})
