import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { cli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { databaseServer, type TestDatabase } from './harness/database.ts'
import { startPooler, type TransactionPooler } from './harness/transaction-pooler.ts'

const here = databaseServer()
const backendCount = 4

async function pooled(
  count = backendCount,
): Promise<{ readonly database: TestDatabase; readonly pooler: TransactionPooler }> {
  const database = await here().database()
  return { database, pooler: await startPooler(database.url, count) }
}

function node(store: string, env: Readonly<Record<string, string>> = {}): Promise<LocalServer> {
  return LocalServer.start({ folder: tempFolder(), env: { HOLDFAST_STORE: store, ...env } })
}

/** What doctor says of what is set for sessions. */
async function session(store: string, env: Readonly<Record<string, string>> = {}): Promise<Check | undefined> {
  const folder = tempFolder()
  const { stdout } = await cli(['doctor', '--json'], {
    folder,
    env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: store, ...env },
  })
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] }
  return checks.find(({ name }) => name === 'session')
}

/** What an expression says on each of the pooler's connections. */
async function onEach(url: string, expression: string): Promise<Set<string>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const found = new Set<string>()
    for (let n = 0; n < 10 * backendCount; n++) {
      const { rows } = await client.query<Record<string, string>>(`SELECT ${expression} AS value`)
      found.add(rows[0]?.['value'] ?? '')
    }
    return found
  } finally {
    await client.end()
  }
}

describe('nodes behind a pooler in transaction mode', () => {
  it('start on an empty database, do all work, and say once that notices do not arrive', async () => {
    const { database, pooler } = await pooled()
    const url = pooler.through(database.url)
    const [one, two] = [await node(url), await node(url)]
    const script = [{ emit: 'step' }, { step: 'a' }, { say: 'done' }]
    const accepted = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? one : two).post<{ id: string }>(`/v1/threads/t${n}/runs`, { agent: 'script', input: { script } }),
    )
    for (const [n, { id }] of (await Promise.all(accepted)).entries()) {
      const log = await (n % 2 === 0 ? two : one).follow(`/v1/threads/t${n}/events?task=${id}`)
      expect(log).toContain('task.completed')
    }
    const { id } = await one.post<{ id: string }>('/v1/threads/long/runs', {
      agent: 'script',
      input: { script: [{ sleepMs: 600_000 }] },
    })
    await two.post(`/v1/tasks/${id}/cancel`, {})
    expect(await one.follow(`/v1/threads/long/events?task=${id}`)).toContain('task.cancelled')
    await one.process.until(/does not pass on notices/, 'stderr')
    expect(await one.end('SIGTERM')).toBe(0)
    expect(one.process.stderr.match(/does not pass on notices/g)).toHaveLength(1)
    expect(await two.end('SIGTERM')).toBe(0)
  })

  it.each([1, 2, backendCount])(
    'leave nothing that listens on any of %i connections, nor does doctor',
    async (count) => {
      const { database, pooler } = await pooled(count)
      const url = pooler.through(database.url)
      const server = await node(url)
      await server.process.until(/does not pass on notices/, 'stderr')
      const folder = tempFolder()
      const { stdout } = await cli(['doctor'], { folder, env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: url } })
      expect(stdout).toMatch(/^note\tnotices\tThey do not arrive/m)
      expect(await onEach(url, '(SELECT count(*)::text FROM pg_listening_channels())')).toEqual(new Set(['0']))
      expect(await server.end('SIGTERM')).toBe(0)
    },
  )

  it('leave nothing set on connections that others are given next', async () => {
    const { database, pooler } = await pooled()
    const url = pooler.through(database.url)
    const server = await node(url)
    for (let n = 0; n < 10; n++) await server.post(`/v1/threads/t${n}/runs`, { agent: 'echo', prompt: 'hi' })
    const folder = tempFolder()
    const { code, stdout } = await cli(['doctor'], { folder, env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: url } })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^note\tnotices\tThey do not arrive, .*pooler/m)])
    const untouched = {
      synchronous_commit: 'on',
      default_transaction_read_only: 'off',
      default_transaction_isolation: 'read committed',
      statement_timeout: '0',
      lock_timeout: '0',
      idle_in_transaction_session_timeout: '0',
      jit: 'on',
      enable_seqscan: 'on',
    }
    for (const [setting, value] of Object.entries(untouched)) {
      expect([setting, await onEach(url, `current_setting('${setting}')`)]).toEqual([setting, new Set([value])])
    }
  })

  it('say what the server does not set for their user, and so does doctor, until it does', async () => {
    const { url, query } = await here().database()
    await query('CREATE ROLE "Steady" LOGIN SUPERUSER')
    const own = url.replace('holdfast@', 'Steady@')
    expect(await session(own)).toMatchObject({ status: 'ok', finding: expect.stringContaining('Nodes set') })
    const pooler = await startPooler(own, 2)
    const server = await node(pooler.through(own))
    await server.process.until(/ALTER ROLE \\"Steady\\" SET transaction_timeout = '4950ms'/, 'stderr')
    expect(server.process.stderr).not.toContain('Everything works')
    expect(await server.end('SIGTERM')).toBe(0)

    const told = await session(pooler.through(own))
    expect(told).toMatchObject({ status: 'note', finding: expect.stringContaining('set nothing') })
    const lines = told?.advice?.match(/ALTER ROLE [^;]+/g) ?? []
    expect(lines).toEqual([
      `ALTER ROLE "Steady" SET statement_timeout = '4500ms'`,
      `ALTER ROLE "Steady" SET idle_in_transaction_session_timeout = '4500ms'`,
      'ALTER ROLE "Steady" SET jit = off',
      'ALTER ROLE "Steady" SET enable_seqscan = off',
      `ALTER ROLE "Steady" SET transaction_timeout = '4950ms'`,
    ])
    for (const line of lines) await query(line)

    const anew = await startPooler(own, 2)
    expect(await session(anew.through(own))).toMatchObject({
      status: 'ok',
      finding: expect.stringContaining('The server sets'),
    })
    const short = { HOLDFAST_LEASE_MS: '6000' }
    const shorter = await session(anew.through(own), short)
    expect(shorter?.advice?.match(/\w+ = '\w+'/g)).toEqual([
      `statement_timeout = '1800ms'`,
      `idle_in_transaction_session_timeout = '1800ms'`,
      `transaction_timeout = '1980ms'`,
    ])
    const [right, hasty] = [await node(anew.through(own)), await node(anew.through(own), short)]
    await hasty.process.until(/statement_timeout = '1800ms'/, 'stderr')
    await right.process.until(/does not pass on notices/, 'stderr')
    expect(await Promise.all([right.end('SIGTERM'), hasty.end('SIGTERM')])).toEqual([0, 0])
    expect(right.process.stderr).not.toContain('ALTER ROLE')
  })
})
