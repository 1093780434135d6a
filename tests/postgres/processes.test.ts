import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, isEndOf, transports, watch } from '../server/harness/client.ts'
import { type Ledger, startLedger } from '../server/harness/ledger.ts'
import { freshThread, tellOnFailure } from '../server/harness/on-each-server.ts'
import { logOf, messagesOf, scriptRun, spawnScript, taskOf, textOf } from '../server/harness/reads.ts'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let ledger: Ledger
const started: TestServer[] = []

beforeAll(async () => {
  schema = testSchema()
  ledger = await startLedger()
  // One that is frozen is soon taken over, and a drain leaves no time to what hangs.
  const env = { HOLDFAST_LEASE_MS: '3000', HOLDFAST_SHUTDOWN_MS: '1' }
  const start = async () => void started.push(await startServer({ store: 'postgres', schema, env }))
  const starts = await Promise.allSettled([start(), start(), start()])
  for (const each of starts) if (each.status === 'rejected') throw each.reason
})

afterEach((context) => tellOnFailure(context, started))

afterAll(async () => {
  await Promise.all(started.map((server) => server.end()))
  await ledger.close()
  await schema.drop()
})

function all(): readonly [TestServer, TestServer, TestServer] {
  const [one, two, three] = started
  if (!one || !two || !three) throw new Error('They are there while a test runs')
  return [one, two, three]
}

/** The name of the node that a process is; another one after each start. */
async function nameOf(server: TestServer): Promise<string> {
  const { headers } = await server.request('GET', '/healthz')
  return headers.get('x-holdfast-node') ?? ''
}

/** The process that is the node of this name. */
async function processOf(node: string): Promise<TestServer> {
  for (const server of all()) if ((await nameOf(server)) === node) return server
  throw new Error(`None of them is ${node}`)
}

/** The nodes that began an attempt of this task, in turn. */
function nodesOf(events: readonly Event[], task: string): string[] {
  const own = events.filter((event) => event.task === task)
  return own.flatMap((event) =>
    event.type === 'task.started' || event.type === 'task.resumed' ? [event.data.node] : [],
  )
}

function isText(text: string): (event: Event) => boolean {
  return (event) => event.type === 'text.delta' && event.data.text === text
}

function isEnding(event: Event): boolean {
  return event.task !== undefined && isEndOf(event.task)(event)
}

function counted(key: string): object {
  return { step: key, effect: ledger.url }
}

function executionsOf(task: string): string[] {
  return ledger.effects.flatMap((effect) => (effect.task === task ? [`${effect.key} in ${effect.attempt}`] : []))
}

describe('three processes on one database', () => {
  it('LIFE-16 never give two tasks the same id, however many are spawned at the same time', async () => {
    const [one, two, three] = all()
    const threads = Array.from({ length: 60 }, freshThread)
    const servers = threads.flatMap((_, n) => [one, two, three][n % 3] ?? [])
    const tasks = await Promise.all(
      servers.map((server, n) => spawnScript(server, threads[n] ?? '', [{ return: threads[n] }])),
    )
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(threads.length)
    for (const { id } of tasks) expect(id).toMatch(/^bg_\d+$/)
    // What each was answered is what there is under its id, also for the others.
    const found = await Promise.all(tasks.map(({ id }, n) => taskOf(servers[(n + 1) % servers.length] ?? one, id)))
    expect(found.map(({ thread }) => thread)).toEqual(threads)
  })

  it.for(transports)(
    'RUN-14 let a run outlive the client that started it over %s: another sees it end on another of them',
    async (transport) => {
      const [one, two, three] = all()
      const thread = freshThread()
      const starter = await connect(transport, one)
      const script = [{ say: 'before ' }, { receive: {} }, { say: 'after' }, { return: 'done' }]
      const run = await starter.run(thread, scriptRun(script))
      const own = await starter.watch({ thread })
      await own.until(isText('before '))
      const watcher = await watch(transport, two, { thread })
      starter.drop()
      await own.ended
      const third = await connect(transport, three)
      await third.send(thread, run.id, 'go on')
      const seen = await watcher.until(isEndOf(run.id))
      expect(seen.at(-1)).toMatchObject({ type: 'task.completed', data: { result: 'done' } })
      expect(nodesOf(seen, run.id)).toEqual([await nameOf(one)])
      expect(textOf((await messagesOf(three, thread)).at(-1))).toBe('before after')
      watcher.close()
      third.drop()
    },
  )

  it.for(transports)(
    'EVNT-04 number a thread that two of them append to without a gap, for who resumes on the third over %s',
    async (transport) => {
      const [one, two, three] = all()
      const thread = freshThread()
      const ticks = { emit: 'tick', times: 60, everyMs: 1 }
      const script = [ticks, { receive: {} }, { emit: 'burst', times: 200 }]
      const [left, right] = [await spawnScript(one, thread, script), await spawnScript(two, thread, script)]
      const whole = await watch(transport, three, { thread })
      const client = await connect(transport, three)
      // Neither is done before the other writes.
      for (const { id } of [left, right]) await whole.until((event) => event.task === id && event.type === 'custom')
      for (const { id } of [left, right]) await client.send(thread, id, 'go on')
      const seen: Event[] = []
      // Each client leaves after a few events, and the next goes on where that one stopped.
      for (let taken = 1; seen.filter(isEnding).length < 2; taken = (taken % 13) + 1) {
        const after = seen.at(-1)?.seq ?? 0
        const watcher = await watch(transport, three, { thread, after })
        seen.push(...(await watcher.until((event) => event.seq >= after + taken || isEnding(event))))
        watcher.close()
      }
      const log = await logOf(one, thread)
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1))
      expect(seen).toEqual(log)
      await whole.until(({ seq }) => seq === log.length)
      expect(whole.events).toEqual(log)
      expect(nodesOf(log, left.id)).toEqual([await nameOf(one)])
      expect(nodesOf(log, right.id)).toEqual([await nameOf(two)])
      expect(log.filter(({ type }) => type === 'custom').length).toBeGreaterThanOrEqual(520)
      whole.close()
      client.drop()
    },
  )

  it('CANC-21 reach a run on another of them, and end one that is queued without starting it', async () => {
    const [one, two, three] = all()
    const thread = freshThread()
    const client = await connect('sse', one)
    const run = await client.run(thread, scriptRun([{ say: 'there' }, { hang: true }]))
    const queued = await client.run(thread, { agent: 'echo', prompt: 'queued' })
    const watcher = await watch('sse', three, { thread })
    await watcher.until(isText('there'))
    const other = await connect('sse', two)
    for (const { id } of [queued, run]) {
      expect(await other.cancel(thread, { task: id })).toEqual([id])
      await watcher.until(isEndOf(id))
    }
    expect(nodesOf(watcher.events, queued.id)).toEqual([])
    expect(await taskOf(three, queued.id)).toMatchObject({ status: 'cancelled', attempt: 0 })
    expect(await taskOf(three, run.id)).toMatchObject({ status: 'cancelled', attempt: 1, partial: true })
    watcher.close()
  })

  it('REST-14 keep one that was frozen past its lease from writing what its agent says when it wakes up', async () => {
    const [one, two] = all()
    const thread = freshThread()
    ledger.hold('frozen')
    const client = await connect('sse', one)
    const run = await client.run(thread, scriptRun([counted('frozen'), { say: 'end' }]))
    await ledger.until('frozen')
    one.signal('SIGSTOP')
    const watcher = await watch('sse', two, { thread })
    const seen = await watcher.until(isEndOf(run.id))
    one.signal('SIGCONT')
    // What it waited for comes, after another has gone on.
    ledger.release('frozen')
    await expect.poll(async () => (await one.request('GET', '/readyz')).status).toBe(200)
    const next = await client.run(thread, { agent: 'echo', prompt: 'next' })
    const log = await watcher.until(isEndOf(next.id))
    expect(log.filter(({ task }) => task === run.id)).toEqual(seen)
    expect(executionsOf(run.id)).toEqual(['frozen in 1', 'frozen in 2'])
    expect(await taskOf(one, run.id)).toMatchObject({ status: 'completed', attempt: 2, epoch: 2 })
    watcher.close()
  })

  it.for(transports)(
    'REST-16 hand a run over on SIGTERM, which goes on from its last step on the next and never crashed, over %s',
    async (transport) => {
      const thread = freshThread()
      // One that had crashed so often at one step would be ended as poisoned.
      const handOvers = 4
      const held = `held over ${transport}`
      ledger.hold(held, handOvers)
      const script = [counted('once'), { say: 'kept ' }, counted(held), { say: 'end' }]
      const run = await (await connect(transport, all()[0])).run(thread, scriptRun(script))
      const seen: Event[] = []
      const executed: string[] = []
      for (let stops = 1; stops <= handOvers; stops += 1) {
        await expect.poll(() => executionsOf(run.id)).toHaveLength(1 + stops)
        const node = nodesOf(await logOf(all()[0], thread), run.id).at(-1) ?? ''
        const server = await processOf(node)
        const watcher = await watch(transport, server, { thread, after: seen.at(-1)?.seq ?? 0 })
        expect(await server.stop()).toEqual({ code: 0, signal: null })
        await watcher.ended
        seen.push(...watcher.events)
        executed.push(node)
        await server.start()
      }
      const rest = await watch(transport, all()[0], { thread, after: seen.at(-1)?.seq ?? 0 })
      seen.push(...(await rest.until(isEndOf(run.id))))
      expect(seen).toEqual(await logOf(all()[1], thread))
      expect(nodesOf(seen, run.id).slice(0, -1)).toEqual(executed)
      expect(new Set(nodesOf(seen, run.id)).size).toBe(handOvers + 1)
      expect(executionsOf(run.id)).toEqual(['once in 1', ...[1, 2, 3, 4, 5].map((attempt) => `${held} in ${attempt}`)])
      expect(await taskOf(all()[2], run.id)).toMatchObject({ status: 'completed', attempt: handOvers + 1 })
      expect(textOf((await messagesOf(all()[2], thread)).at(-1))).toBe('kept end')
      rest.close()
    },
  )
})
