import { expect, it } from 'vitest'
import { cli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { databaseServer } from './harness/database.ts'
import { nextMinor } from './harness/next-minor.ts'

const here = databaseServer()

function node(store: string, program?: string): Promise<LocalServer> {
  const env = { HOLDFAST_STORE: store, HOLDFAST_LEASE_MS: '2000' }
  return LocalServer.start({ folder: tempFolder(), env, ...(program !== undefined && { program }) })
}

function run(server: LocalServer, thread: string, script: readonly object[]): Promise<{ readonly id: string }> {
  return server.post(`/v1/threads/${thread}/runs`, { agent: 'script', input: { script } })
}

it('two minors run side by side on one database, through an upgrade of one node after the other', async () => {
  const next = nextMinor()
  const { url, query } = await here().database()
  const version = () => query('SELECT major, minor FROM holdfast.meta')
  const older = await node(url)
  await run(older, 'before', [{ say: 'before' }])
  expect(await version()).toEqual([{ major: 1, minor: next.minor - 1 }])

  // The newer migrates while the older works.
  const steps = Array.from({ length: 40 }, (_, n) => ({ step: `s${n}`, sleepMs: 25 }))
  const long = await run(older, 'long', steps)
  const newer = await node(url, next.program)
  expect(await version()).toEqual([{ major: 1, minor: next.minor }])
  expect(await newer.follow(`/v1/threads/long/events?task=${long.id}`)).toContain('task.completed')

  // Each goes on with what the other began, in one thread.
  for (const [n, server] of [older, newer, older, newer].entries()) {
    const { id } = await run(server, 'shared', [{ say: `${n}` }, { step: 'a' }])
    const other = server === older ? newer : older
    expect(await other.follow(`/v1/threads/shared/events?task=${id}`)).toContain('task.completed')
  }
  const { id } = await run(newer, 'cancelled', [{ sleepMs: 600_000 }])
  await older.post(`/v1/tasks/${id}/cancel`, {})
  expect(await newer.follow(`/v1/threads/cancelled/events?task=${id}`)).toContain('task.cancelled')

  // One of the older starts on what the newer has made, leaves it as it is, and goes on with what a killed one left.
  const left = await run(newer, 'left', [{ step: 'first' }, { step: 'second', sleepMs: 3_000 }, { say: 'whole' }])
  await newer.follow(`/v1/threads/left/events?task=${left.id}`, /step_executed.*first/)
  const restarted = await node(url)
  await newer.end('SIGKILL')
  const log = await restarted.follow(`/v1/threads/left/events?task=${left.id}`)
  expect(log).toMatch(/task\.completed/)
  expect(log.match(/"key":"first"/g)).toHaveLength(1)
  expect(await version()).toEqual([{ major: 1, minor: next.minor }])
  expect(await Promise.all([older.end('SIGTERM'), restarted.end('SIGTERM')])).toEqual([0, 0])

  // What the older says of it.
  const folder = tempFolder()
  const { code, stdout } = await cli(['doctor'], { folder, env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: url } })
  const finding = `note\tschema\t1.${next.minor}, of a newer Holdfast, which this one works on`
  expect([code, stdout]).toEqual([0, expect.stringContaining(finding)])
})
