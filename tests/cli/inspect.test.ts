import { describe, expect, it, onTestFinished } from 'vitest'
import type { Question } from '../../src/core/question.ts'
import type { Task } from '../../src/core/task.ts'
import { type StartOptions, startServer, type TestServer } from '../server/harness/server.ts'
import { cli } from './harness/cli.ts'
import { TerminalScreen } from './harness/terminal.ts'
import { ended, logged, runScript } from './harness/work.ts'

async function started(env: Record<string, string> = {}, store: StartOptions['store'] = 'memory'): Promise<TestServer> {
  const server = await startServer({ store, env })
  onTestFinished(() => server.end())
  return server
}

interface Inspected {
  readonly task: Task
  readonly why: readonly { readonly code: string; readonly text: string; readonly command?: string }[]
  readonly questions: readonly Question[]
}

async function inspect(server: TestServer, id: string): Promise<Inspected> {
  const { code, stdout, stderr } = await cli(['inspect', id, '--json'], { server })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Inspected
}

describe('holdfast inspect', () => {
  it('says what a run is queued behind, and at which position', async () => {
    const server = await started()
    const first = await runScript(server, 't', [{ hang: true }])
    const second = await runScript(server, 't', [{ say: 'x' }])
    const third = await runScript(server, 't', [{ say: 'x' }])
    const { why } = await inspect(server, third.id)
    expect(why).toMatchObject([
      { code: 'queue', waitsFor: [first.id, second.id], command: `holdfast inspect ${first.id}` },
    ])
    expect(why[0]?.text).toMatch(
      new RegExp(
        `^Queued behind ${first.id}, which has run for \\d+s; it is number 2 in the queue\\. .* also ${second.id}\\.$`,
      ),
    )
  })

  it('says which question is open, with a command that answers it', async () => {
    const server = await started()
    const task = await runScript(server, 't', [{ ask: { text: 'Go on?', options: ['go on', 'stop'] } }])
    await logged(server, 't', /question\.asked/)
    const { why, questions } = await inspect(server, task.id)
    expect(why).toMatchObject([{ code: 'question', waitsFor: [questions[0]?.id] }])
    expect(why[0]?.text).toContain('"Go on?" (go on | stop)')
    expect(why[0]?.command).toBe(`holdfast answer ${questions[0]?.id} 'go on'`)
    const piped = await cli(['inspect', task.id], { server })
    expect(piped.stdout).toMatch(
      new RegExp(`^why\tWaits for an answer.*\ncommand\tholdfast answer ${questions[0]?.id} 'go on'\n`, 'm'),
    )
    const answered = await cli(['answer', questions[0]?.id ?? '', 'go on'], { server })
    expect(answered.code).toBe(0)
    expect((await ended(server, task)).status).toBe('completed')
  })

  it('says that no node has its agent', async () => {
    const env = { HOLDFAST_SCRIPT: '1', HOLDFAST_LEASE_MS: '1000' }
    const server = await started(env, 'sqlite')
    const task = await runScript(server, 't', [{ hang: true }])
    await server.kill9()
    env.HOLDFAST_SCRIPT = '0'
    await server.start()
    const { why } = await inspect(server, task.id)
    expect(why.map(({ code }) => code)).toContain('agent')
    expect(why.find(({ code }) => code === 'agent')?.text).toMatch(
      /^No node that answers has its agent script; there are: .*echo/,
    )
  })

  it('says that an agent executes as much as it may, of a task that is to start and of one that is to go on', async () => {
    const server = await started({ HOLDFAST_LIMITS: 'executingTasksPerAgent=1' })
    const asking = await runScript(server, 'asks', [{ ask: { text: 'Go on?' } }])
    await logged(server, 'asks', /question\.asked/)
    await runScript(server, 'works', [{ say: 'x' }, { hang: true }])
    await logged(server, 'works', /task\.started/)
    const pending = await runScript(server, 'waits', [{ say: 'x' }])
    const { questions } = await inspect(server, asking.id)
    expect((await cli(['answer', questions[0]?.id ?? '', 'yes'], { server })).code).toBe(0)
    const limit = 'its agent script executes at most 1 at once, over all nodes'
    for (const [id, text] of [
      [pending.id, `It may start, and waits for its turn: ${limit}`],
      [asking.id, `It is at work, or sleeping, or waiting for a message or to go on: ${limit}`],
    ] as const) {
      const { why } = await inspect(server, id)
      expect(why).toMatchObject([{ code: 'place', text: expect.stringContaining(text) as string }])
    }
    expect((await cli(['agents', 'script'], { server })).stdout).toBe('script\t\tRuns the program in its input\t1\n')
  })

  it('says for how long a task is being cancelled, by whom and why', async () => {
    const server = await started({ HOLDFAST_GRACE_MS: '60000' })
    const task = await runScript(server, 't', [{ hang: 'hard' }])
    await logged(server, 't', /task\.started/)
    await server.request('POST', `/v1/tasks/${task.id}/cancel`, { body: { reason: 'too slow' } })
    const { why } = await inspect(server, task.id)
    expect(why).toMatchObject([{ code: 'cancelling' }])
    expect(why[0]?.text).toMatch(/^Cancelling for \d+s by alice \("too slow"\)\. It is ended by force/)
  })

  it('says that the server shuts down', async () => {
    const server = await started({ HOLDFAST_SHUTDOWN_MS: '60000' })
    const task = await runScript(server, 't', [{ hang: true }])
    server.signal('SIGTERM')
    while ((await server.request('GET', '/readyz')).status === 200);
    const { why } = await inspect(server, task.id)
    expect(why.map(({ code }) => code)).toEqual(['draining'])
  })

  it('says where a task is at work that nothing holds up, and what it did last, in a pipe, as JSON and on a terminal', async () => {
    const server = await started()
    const task = await runScript(server, 't', [...Array<object>(210).fill({ say: 'x' }), { receive: {} }])
    await logged(server, 't', /"seq":213\b/)
    const node = (await server.request('GET', '/readyz')).headers.get('x-holdfast-node')
    const said = `At work on the node ${node}, or sleeping, or waiting for a message: nothing that the server knows of holds it up.`
    const last = /Its last event is number 213, text\.delta, \d+s ago\.$/
    const { why } = await inspect(server, task.id)
    expect(why).toMatchObject([{ code: 'work', command: `holdfast logs ${task.id}` }])
    expect(why[0]?.text.startsWith(said)).toBe(true)
    expect(why[0]?.text).toMatch(last)
    const { stdout } = await cli(['inspect', task.id], { server })
    expect(stdout).toContain(`why\t${said}`)
    const screen = new TerminalScreen(['inspect', task.id], { server, columns: 200 })
    await screen.ended
    expect(screen.text).toContain(said)
    expect(screen.text).not.toContain('Why it does not move')
  })

  it('says everything on one line per field in a pipe, and of a task that ended how', async () => {
    const server = await started()
    const task = await runScript(server, 't', [{ say: 'a\nb' }, { fail: 'no\tluck' }], { metadata: { a: 1 } })
    await ended(server, task)
    const { code, stdout } = await cli(['inspect', task.id], { server })
    expect(code).toBe(0)
    const fields = new Map(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t') as [string, string]),
    )
    expect(Object.fromEntries(fields)).toMatchObject({
      id: task.id,
      status: 'failed',
      thread: 't',
      error: '{"code":"agent_error","message":"no\\tluck"}',
      metadata: '{"a":1}',
      attempt: '1',
    })
    expect(fields.get('completedAt')).toMatch(/^\d{4}-.*Z$/)
    expect(fields.has('why')).toBe(false)
  })

  it('draws it on a terminal, with why and what to do', async () => {
    const server = await started()
    const first = await runScript(server, 't', [{ tool: 'search', ms: 600_000 }])
    const second = await runScript(server, 't', [{ say: 'x' }], { description: 'long '.repeat(60) })
    await logged(server, 't', /tool\.call/)
    const waiting = new TerminalScreen(['inspect', second.id], { server, columns: 90 })
    expect(await waiting.ended).toBe(0)
    expect(waiting.text).toMatch(/^id +bg_1\nstatus +○ pending\ndescription +long .*…\n/)
    expect(waiting.text).toMatch(
      new RegExp(`Why it does not move:\n {2}• Queued behind ${first.id}, .*\n {4}→ holdfast inspect ${first.id}`),
    )
    const working = new TerminalScreen(['inspect', first.id], { server, columns: 90 })
    await working.ended
    expect(working.text).toMatch(/• In its tool search for \d+s\./)
  })

  it('breaks what came of a task into rows on a narrow terminal, and cuts nothing of it', async () => {
    const server = await started()
    const message = Array.from({ length: 40 }, (_, n) => `reason-${n}`).join(' ')
    const failed = await runScript(server, 't', [{ fail: message }])
    await ended(server, failed)
    const screen = new TerminalScreen(['inspect', failed.id], { server, columns: 80, rows: 60 })
    expect(await screen.ended).toBe(0)
    const [, rows = ''] = /^error +(agent_error: .*?)\nthread/ms.exec(screen.text) ?? []
    expect(rows.split(/\n +/).join(' ')).toBe(`agent_error: ${message}`)
    expect(rows.split('\n').length).toBeGreaterThan(3)
  })

  it('says 5 of a task that is not there, or is another’s', async () => {
    const server = await started()
    const task = await runScript(server, 't', [{ hang: true }])
    expect((await cli(['inspect', 'bg_99'], { server })).code).toBe(5)
    expect(
      (await cli(['inspect', task.id], { server, env: { HOLDFAST_TOKEN: server.tokens['bob'] ?? '' } })).code,
    ).toBe(5)
  })
})
