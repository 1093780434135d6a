import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { cli } from './harness/cli.ts'
import { LocalServer, tempFolder } from './harness/local-server.ts'
import { TerminalScreen } from './harness/terminal.ts'

const threads = ['a', 'b', 'c', 'd'] as const

/** Clients that ask for one run after the other, and note each that was accepted, until they are told to stop. */
function load(server: LocalServer): { readonly accepted: Task[]; stop(): Promise<void> } {
  const accepted: Task[] = []
  let isStopped = false
  const script = [{ say: 'one ' }, { sleepMs: 5 }, { spawn: { script: [{ say: 'child' }] } }, { say: 'two' }]
  const clients = threads.map(async (thread) => {
    while (!isStopped) {
      const { id } = await server.post<Task>(`/v1/threads/${thread}/runs`, { agent: 'script', input: { script } })
      accepted.push(await server.get<Task>(`/v1/tasks/${id}`))
    }
  })
  return {
    accepted,
    async stop() {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

async function logOf(server: LocalServer, thread: string): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const after = events.length
    const page = await server.get<{ events: Event[]; head: number }>(
      `/v1/threads/${thread}/events?after=${after}&limit=1000`,
    )
    events.push(...page.events)
    if (events.length >= page.head) return events
  }
}

/** How many were accepted when so many more had been. */
async function accepting(accepted: readonly Task[], more: number): Promise<number> {
  const enough = accepted.length + more
  while (accepted.length < enough) await new Promise(setImmediate)
  return accepted.length
}

describe('holdfast backup', () => {
  it('copies beside a server under load, and what was acknowledged before goes on from the copy', async () => {
    const folder = tempFolder()
    const server = await LocalServer.start({ folder })
    // One that is interrupted by the copy: it is in the middle of its program there.
    const slow = [{ say: 'before ' }, { receive: {} }, { say: 'after' }]
    const interrupted = await server.post<Task>('/v1/threads/slow/runs', { agent: 'script', input: { script: slow } })
    await server.follow('/v1/threads/slow/events', /before /)
    const work = load(server)
    await accepting(work.accepted, 40)
    const before = work.accepted.map(({ id }) => id)
    const copying = cli(['backup', 'copy.db', '--json'], { folder, env: { XDG_STATE_HOME: folder } })
    await Promise.all([copying, accepting(work.accepted, 20)])
    await work.stop()
    const { code, stdout } = await copying
    expect(code).toBe(0)
    const said = JSON.parse(stdout) as { file: string; bytes: number; durationMs: number; store: string }
    expect(said).toMatchObject({ store: join(folder, 'holdfast', 'holdfast.db'), durationMs: expect.any(Number) })
    expect(statSync(said.file)).toMatchObject({ size: said.bytes, mode: 0o100600 })
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${LocalServer.token}` } })
    expect(await metrics.text()).not.toMatch(/^holdfast_commit_failures_total\S* [1-9]/m)
    await server.end('SIGKILL')

    const elsewhere = tempFolder()
    copyFileSync(said.file, join(elsewhere, 'holdfast.db'))
    const restored = await LocalServer.start({
      folder: elsewhere,
      args: ['serve', '--port', '0', '--store', 'sqlite:./holdfast.db'],
    })
    for (const id of before) await expect(restored.get(`/v1/tasks/${id}`)).resolves.toMatchObject({ id })
    await restored.post(`/v1/tasks/${interrupted.id}/messages`, { content: 'go on' })
    expect(await restored.follow(`/v1/threads/slow/events?task=${interrupted.id}`)).toMatch(
      /resumed.*after.*completed/s,
    )
    const ids: string[] = []
    for (const thread of threads) {
      const runs = await restored.get<{ tasks: Task[] }>(`/v1/tasks?thread=${thread}&limit=1000`)
      for (const { id } of runs.tasks) await restored.follow(`/v1/threads/${thread}/events?task=${id}`)
      const log = await logOf(restored, thread)
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
      ids.push(...log.flatMap((event) => (event.type === 'task.accepted' ? event.data.task.id : [])))
    }
    expect(new Set(ids).size).toBe(ids.length)
    const next = await restored.post<Task>('/v1/threads/a/runs', { agent: 'echo', prompt: 'again' })
    expect(Number(next.id.slice(3))).toBeGreaterThan(Math.max(...ids.map((id) => Number(id.slice(3)))))
  })

  it('makes a copy that replaces the files of a server that was killed, whose log is beside them', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder }
    const store = join(folder, 'holdfast', 'holdfast.db')
    const server = await LocalServer.start({ folder })
    await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'kept' })
    const { head } = await server.get<{ head: number }>('/v1/threads/t')
    expect(await cli(['backup', 'copy.db'], { folder, env })).toMatchObject({ code: 0 })
    for (let n = 0; n < 30; n += 1)
      await server.post(`/v1/threads/t/runs`, { agent: 'echo', prompt: 'x'.repeat(9_000) })
    await server.end('SIGKILL')
    expect(statSync(`${store}-wal`).size).toBeGreaterThan(0)
    copyFileSync(join(folder, 'copy.db'), store)
    const restored = await LocalServer.start({ folder })
    const { tasks } = await restored.get<{ tasks: Task[] }>('/v1/tasks')
    expect(tasks.map(({ id }) => id)).toEqual(['bg_0'])
    expect((await logOf(restored, 't')).length).toBeGreaterThanOrEqual(head)
    expect(await restored.end('SIGTERM')).toBe(0)
    expect(await cli(['doctor', '--json'], { folder, env })).toMatchObject({ code: 0 })
  })

  it('says in one line what it made, and what to do with it', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder }
    expect((await cli(['migrate'], { folder, env })).code).toBe(0)
    const made = await cli(['backup', 'copy.db'], { folder, env })
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S+copy\.db: \d+\.\d [KM]iB in \S+, checked\n$/),
      stderr: `Start on it: holdfast serve --store sqlite:${join(folder, 'copy.db')}\n`,
    })
    expect(await cli(['backup', '--quiet', 'other.db'], { folder, env })).toMatchObject({ code: 0, stderr: '' })
  })

  it('leaves nothing of its progress on a terminal', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder }
    const server = await LocalServer.start({ folder })
    for (let n = 0; n < 40; n += 1) {
      await server.post(`/v1/threads/t${n}/runs`, { agent: 'echo', prompt: 'x'.repeat(200_000) })
    }
    const screen = new TerminalScreen(['backup', 'copy.db'], { folder, env, columns: 200 })
    expect(await screen.ended).toBe(0)
    expect(screen.text).toMatch(/^\S+copy\.db: \d+\.\d MiB in \S+, checked\nStart on it: [^\n]+$/)
  })

  it('never replaces a file unless it is told to', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder }
    await cli(['migrate'], { folder, env })
    writeFileSync(join(folder, 'copy.db'), 'precious')
    const refused = await cli(['backup', 'copy.db'], { folder, env })
    expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('--force') })
    expect(readFileSync(join(folder, 'copy.db'), 'utf8')).toBe('precious')
    expect(await cli(['backup', '--force', 'copy.db'], { folder, env })).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'copy.db'), 'latin1')).toContain('SQLite format 3')
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'holdfast'])
  })

  it.each([
    ['memory:', 2, 'keeps nothing'],
    ['postgres://localhost/holdfast', 2, 'pg_dump'],
    ['sqlite:./nowhere.db', 1, 'There is no store at'],
    ['sqlite:./text.db', 1, 'is no SQLite database'],
    ['nonsense', 2, 'is no store'],
  ])('refuses to copy %s, and says why', async (store, code, words) => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'text.db'), 'not a database at all, but a text that somebody wrote down. '.repeat(40))
    const files = readdirSync(folder)
    const refused = await cli(['backup', '--store', store, 'copy.db'], { folder, env: { XDG_STATE_HOME: folder } })
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) })
    expect(readdirSync(folder)).toEqual(files)
  })

  it('names the folder that is not there', async () => {
    const folder = tempFolder()
    const env = { XDG_STATE_HOME: folder }
    await cli(['migrate'], { folder, env })
    mkdirSync(join(folder, 'there'))
    const refused = await cli(['backup', 'nowhere/copy.db'], { folder, env })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(join(folder, 'nowhere')) })
    expect(await cli(['backup', 'there/copy.db'], { folder, env })).toMatchObject({ code: 0 })
  })
})
