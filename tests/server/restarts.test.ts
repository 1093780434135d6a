import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, isEndOf, transports, watch } from './harness/client.ts'
import { type Ledger, startLedger } from './harness/ledger.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { logOf, messagesOf, resultsOf, scriptRun, spawnScript, taskOf, textOf } from './harness/reads.ts'

let ledger: Ledger

beforeEach(async () => {
  ledger = await startLedger()
})

afterEach(() => ledger.close())

function counted(key: string): object {
  return { step: key, effect: ledger.url }
}

function executions(): string[] {
  return ledger.effects.map(({ key, attempt }) => `${key} in ${attempt}`)
}

function customs(events: readonly Event[], name: string): unknown[] {
  return events.flatMap((event) => (event.type === 'custom' && event.data.name === name ? [event.data.payload] : []))
}

onEachServer(['sqlite'], (kind, start) => {
  it.for(transports)(
    'REST-13 EVNT-06 a killed run goes on from its last step, its stream without a seam, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      ledger.hold('second')
      const script = [{ say: 'one ' }, counted('first'), { say: 'two ' }, counted('second'), { say: 'three' }]
      const run = await client.run('t', scriptRun(script))
      const before = await client.watch({ thread: 't' })
      await before.until((event) => event.type === 'text.delta' && event.data.text === 'two ')
      await ledger.until('second')
      await server.restart()
      await before.ended
      const last = before.events.at(-1)?.seq ?? 0
      const after = await watch(transport, server, { thread: 't', after: last })
      await after.until(isEndOf(run.id))
      expect(executions()).toEqual(['first in 1', 'second in 1', 'second in 2'])
      expect([...before.events, ...after.events]).toEqual(await logOf(server, 't'))
      expect(await taskOf(server, run.id)).toMatchObject({ status: 'completed', attempt: 2, epoch: 2 })
      expect(textOf((await messagesOf(server, 't')).at(-1))).toBe('one two three')
      expect(after.events.filter(({ type }) => type === 'task.resumed')).toHaveLength(1)
      after.close()
    },
  )

  it.for(transports)('EVNT-06 what a client has seen over %s survives kill -9 at any moment', async (transport) => {
    const server = await start()
    // Many short ops: one that is done again and again is not taken for poisoned as long as others are finished.
    const ticks = Array.from({ length: 60 }, (_, op) => ({ emit: 'tick', payload: { op }, times: 10, everyMs: 1 }))
    // At its end it waits to be told, so that it is not over before it is killed.
    const script = [...ticks, { receive: {} }]
    const run = await (await connect(transport, server)).run('t', scriptRun(script))
    const seen: Event[] = []
    // Where nodes have leases each time waits for the end of one.
    for (const count of kind === 'postgres' ? [150] : [3, 60, 150, 300]) {
      const watcher = await watch(transport, server, { thread: 't', after: seen.at(-1)?.seq ?? 0 })
      await watcher.until(({ seq }) => seq >= count)
      await server.restart()
      await watcher.ended
      seen.push(...watcher.events)
      expect((await logOf(server, 't')).slice(0, seen.length)).toEqual(seen)
    }
    await (await connect(transport, server)).send('t', run.id, 'go')
    const rest = await watch(transport, server, { thread: 't', after: seen.at(-1)?.seq ?? 0 })
    seen.push(...(await rest.until(isEndOf(run.id))))
    expect(seen).toEqual(await logOf(server, 't'))
    expect(seen.filter(isEndOf(run.id))).toHaveLength(1)
    rest.close()
  })

  it.for(transports)(
    'REST-15 a resumed parent spawns no child and reads no message twice, over %s',
    async (transport) => {
      const server = await start()
      const client = await connect(transport, server)
      ledger.hold('last')
      const child = { script: [counted('in the child'), { return: 7 }], name: 'child', wait: true }
      const script = [
        { receive: {} },
        { spawn: child },
        { receive: {} },
        { sleepMs: 1 },
        counted('last'),
        { say: 'end' },
      ]
      const run = await client.run('t', scriptRun(script))
      for (const content of ['one', 'two', 'three']) await client.send('t', run.id, content)
      await ledger.until('last')
      await server.restart()
      const watcher = await watch(transport, server, { thread: 't' })
      const seen = await watcher.until(isEndOf(run.id))
      expect(executions()).toEqual(['in the child in 1', 'last in 1', 'last in 2'])
      expect(seen.filter(({ type }) => type === 'task.accepted')).toHaveLength(2)
      expect(customs(seen, 'received')).toEqual([{ content: 'one' }, { content: 'two' }])
      expect(customs(seen, 'child_ended')).toMatchObject([{ status: 'completed', result: 7 }])
      watcher.close()
    },
  )

  it('REST-15 a resumed sleep waits only for the rest', async () => {
    const server = await start()
    const sleepMs = 1_500
    const client = await connect('sse', server)
    const run = await client.run('t', scriptRun([{ say: 'a' }, { sleepMs }, { say: 'b' }]))
    const watcher = await client.watch({ thread: 't' })
    await watcher.until(({ type }) => type === 'text.delta')
    // The sleep is on record once a later commit of another thread is.
    await client.run('u', { agent: 'echo', prompt: 'later' })
    await server.restart()
    const again = await watch('sse', server, { thread: 't' })
    const seen = await again.until(isEndOf(run.id))
    const [a, b] = seen.filter(({ type }) => type === 'text.delta')
    const resumed = seen.find(({ type }) => type === 'task.resumed')
    expect((b?.at ?? 0) - (a?.at ?? 0)).toBeGreaterThanOrEqual(sleepMs - 100)
    expect((b?.at ?? 0) - (resumed?.at ?? 0)).toBeLessThan(sleepMs)
    again.close()
  })

  it.for(transports)(
    'REST-16 a hand-over on SIGTERM goes on from the last step and is no crash, over %s',
    async (transport) => {
      const server = await start({ env: { HOLDFAST_SHUTDOWN_MS: '1' } })
      ledger.hold('held', 4)
      const script = [counted('once'), { say: 'kept ' }, counted('held'), { say: 'end' }]
      const run = await (await connect(transport, server)).run('t', scriptRun(script))
      const seen: Event[] = []
      for (let stops = 1; stops <= 4; stops += 1) {
        const watcher = await watch(transport, server, { thread: 't', after: seen.at(-1)?.seq ?? 0 })
        await ledger.until('held', stops)
        expect(await server.stop()).toEqual({ code: 0, signal: null })
        const end = await watcher.ended
        if (transport === 'ws') expect(end).toEqual({ by: 'close', code: 1001 })
        seen.push(...watcher.events)
        await server.start()
      }
      const rest = await watch(transport, server, { thread: 't', after: seen.at(-1)?.seq ?? 0 })
      seen.push(...(await rest.until(isEndOf(run.id))))
      expect(seen).toEqual(await logOf(server, 't'))
      expect(await taskOf(server, run.id)).toMatchObject({ status: 'completed', attempt: 5 })
      expect(executions().filter((each) => each.startsWith('once'))).toEqual(['once in 1'])
      expect(textOf((await messagesOf(server, 't')).at(-1))).toBe('kept end')
      rest.close()
    },
  )

  it('a queued prompt survives a restart and keeps its place', async () => {
    const server = await start()
    const client = await connect('sse', server)
    ledger.hold('active')
    const active = await client.run('t', scriptRun([counted('active')]))
    const queued = [
      await client.run('t', { agent: 'echo', prompt: 'second', metadata: { a: 1 } }),
      await client.run('t', { agent: 'echo', prompt: 'third' }),
    ]
    await ledger.until('active')
    await server.restart()
    const later = await (await connect('sse', server)).run('t', { agent: 'echo', prompt: 'fourth' })
    const watcher = await watch('sse', server, { thread: 't' })
    const seen = await watcher.until(isEndOf(later.id))
    const started = seen.filter(({ type }) => type === 'task.started').map(({ task }) => task)
    expect(started).toEqual([active.id, ...queued.map(({ id }) => id), later.id])
    expect(await taskOf(server, queued[0]?.id ?? '')).toMatchObject({ result: 'second', metadata: { a: 1 } })
    watcher.close()
  })

  it('an unread message and an uncollected result survive a restart', async () => {
    const server = await start()
    const client = await connect('sse', server)
    const result = await spawnScript(server, 't', [{ return: { kept: true } }])
    await (await client.watch({ thread: 't', task: result.id })).ended
    ledger.hold('busy')
    const reader = await spawnScript(server, 't', [counted('busy'), { receive: {} }])
    await ledger.until('busy')
    await client.send('t', reader.id, 'unread')
    await server.restart()
    await (await watch('sse', server, { thread: 't', task: reader.id })).ended
    expect(customs(await logOf(server, 't'), 'received')).toEqual([{ content: 'unread' }])
    const { results } = await resultsOf(server, 't')
    expect(results.find(({ task }) => task === result.id)?.answer).toEqual({ kept: true })
  })

  it('the cookie of a browser is good after a restart, and of no use under another token', async () => {
    const server = await start()
    const body = { token: server.tokens['alice'] }
    const login = await server.request('POST', '/v1/login', { body, as: '' })
    expect(login.status).toBeLessThan(300)
    const setCookie = login.headers.get('set-cookie') ?? ''
    expect(setCookie).toMatch(/HttpOnly/i)
    expect(setCookie).toMatch(/SameSite=Strict/i)
    expect(setCookie).not.toContain(server.tokens['alice'])
    const cookie = setCookie.split(';')[0] ?? ''
    const run = await (await connect('sse', server)).run('t', { agent: 'echo', prompt: 'a' })
    const ask = () => server.request('GET', `/v1/tasks/${run.id}`, { as: '', headers: { cookie } })
    expect((await ask()).status).toBe(200)
    await server.restart()
    expect((await ask()).status).toBe(200)
    // In the middle of the signature: not all bits of its last character count.
    const forged = cookie.replace(/.(?=.{20}$)/, (one) => (one === 'A' ? 'B' : 'A'))
    const refused = await server.request('GET', '/v1/tasks', { as: '', headers: { cookie: forged } })
    expect(refused.status).toBe(401)
  })

  it('a cancel that was answered is not lost by kill -9', async () => {
    const server = await start()
    for (const transport of transports) {
      const client = await connect(transport, server)
      const runs = [
        await client.run(transport, scriptRun([{ hang: 'hard' }])),
        await client.run(transport, { agent: 'echo', prompt: 'queued' }),
      ]
      const ids = runs.map(({ id }) => id)
      expect(await client.cancel(transport)).toEqual(ids)
      await server.restart()
      for (const id of ids) {
        const watcher = await watch(transport, server, { thread: transport, task: id })
        await watcher.ended
        expect(watcher.events.at(-1)?.type).toBe('task.cancelled')
        expect(watcher.events.map(({ type }) => type)).not.toContain('task.resumed')
      }
    }
  })
})
