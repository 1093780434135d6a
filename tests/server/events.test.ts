import { expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { connect, isEndOf, transports, watch } from './harness/client.ts'
import { freshThread, onSharedServer } from './harness/on-each-server.ts'
import { logOf, read, scriptRun, spawnScript } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import type { Watcher } from './harness/tape.ts'

/** A thread in which two tasks have spoken by turns, and one has ended. */
async function mixedThread(server: TestServer): Promise<{ thread: string; ended: string; live: string }> {
  const thread = freshThread()
  const live = await spawnScript(server, thread, [{ receive: {} }, { say: 'live' }, { hang: true }])
  const ended = await spawnScript(server, thread, [{ receive: {} }, { say: 'ended' }])
  const client = await connect('sse', server)
  for (const { id } of [live, ended]) await client.send(thread, id, 'go')
  const watcher = await client.watch({ thread })
  await Promise.all([watcher.until(isEndOf(ended.id)), watcher.until(isText('live'))])
  client.drop()
  return { thread, ended: ended.id, live: live.id }
}

function isText(text: string): (event: Event) => boolean {
  return (event) => event.type === 'text.delta' && event.data.text === text
}

function seqsOf(events: readonly Event[]): number[] {
  return events.map(({ seq }) => seq)
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)('EVNT-01 EVNT-03 a task alone is seen, live and in the replay, over %s', async (transport) => {
    const { thread, ended, live } = await mixedThread(server())
    const watchers = [
      await watch(transport, server(), { thread, task: ended }),
      await watch(transport, server(), { thread, task: live }),
    ]
    const client = await connect(transport, server())
    await client.run(thread, { agent: 'echo', prompt: 'noise' })
    await client.cancel(thread, { task: live })
    const log = await logUntil(server(), thread, isEndOf(live))
    for (const [index, task] of [ended, live].entries()) {
      expect(await watchers[index]?.ended).toEqual({ by: 'end' })
      expect(watchers[index]?.events).toEqual(log.filter((event) => event.task === task))
    }
    client.drop()
  })

  it.for(transports)('EVNT-02 without a filter all events of the thread are seen, over %s', async (transport) => {
    const { thread, live } = await mixedThread(server())
    const watcher = await watch(transport, server(), { thread })
    const client = await connect(transport, server())
    await client.run(freshThread(), { agent: 'echo', prompt: 'elsewhere' })
    await client.cancel(thread, { task: live })
    const seen = await watcher.until(isEndOf(live))
    expect(seen).toEqual((await logOf(server(), thread)).slice(0, seen.length))
    expect(seqsOf(seen)).toEqual(seen.map((_event, index) => index + 1))
    watcher.close()
    client.drop()
  })

  it.for(transports)(
    'EVNT-03 types filter the replay and what is live alike, and never the ending, over %s',
    async (transport) => {
      const { thread, live } = await mixedThread(server())
      const types = 'text.delta,custom'
      const watchers = [
        await watch(transport, server(), { thread, task: live, types }),
        await watch(transport, server(), { thread, types: `${types},task.cancelled` }),
      ]
      const client = await connect(transport, server())
      await client.cancel(thread, { task: live })
      await watchers[0]?.ended
      expect(watchers[0]?.events.map(({ type }) => type)).toEqual(['custom', 'text.delta', 'task.cancelled'])
      const seen = await watchers[1]?.until(isEndOf(live))
      const log = await logUntil(server(), thread, isEndOf(live))
      expect(seen).toEqual(log.filter(({ type }) => ['custom', 'text.delta', 'task.cancelled'].includes(type)))
      watchers[1]?.close()
      client.drop()
    },
  )

  it.for(transports)(
    'EVNT-04 who resumes after n gets n+1 next, at any moment of the run, over %s',
    async (transport) => {
      const thread = freshThread()
      const client = await connect(transport, server())
      const script = [{ emit: 'tick', times: 60, everyMs: 1 }, { emit: 'burst', times: 200 }, { say: 'done' }]
      const run = await client.run(thread, scriptRun(script))
      const seen: Event[] = []
      // Each client leaves after a few events, and the next goes on where that one stopped.
      for (let taken = 1; !seen.some(isEndOf(run.id)); taken = (taken % 13) + 1) {
        const after = seen.at(-1)?.seq ?? 0
        const watcher = await watch(transport, server(), { thread, after })
        const some = await watcher.until((event) => event.seq >= after + taken || isEndOf(run.id)(event))
        watcher.close()
        seen.push(...some)
      }
      const log = await logUntil(server(), thread, isEndOf(run.id))
      expect(seen).toEqual(log)
      expect(log.length).toBeGreaterThan(260)
      client.drop()
    },
  )

  it.for(transports)('EVNT-04 every number of a finished log can be resumed after, over %s', async (transport) => {
    const { thread, ended, live } = await mixedThread(server())
    const client = await connect(transport, server())
    await client.cancel(thread, { task: live })
    const log = await logUntil(server(), thread, isEndOf(live))
    for (let after = 0; after < log.length; after += 1) {
      const whole = await watch(transport, server(), { thread, after })
      expect(await whole.until(({ seq }) => seq === log.length)).toEqual(log.slice(after))
      whole.close()
      const own = await watch(transport, server(), { thread, task: ended, after })
      await own.ended
      expect(own.events).toEqual(log.slice(after).filter(({ task }) => task === ended))
      own.close()
    }
    client.drop()
  })

  it.for(transports)('EVNT-05 nothing of a task follows its terminal event, over %s', async (transport) => {
    const thread = freshThread()
    const client = await connect(transport, server())
    const watcher = await client.watch({ thread })
    const endings = [[{ return: 1 }], [{ fail: 'no' }], [{ say: 'a' }, { hang: true }], [{ answer: 2 }]]
    const tasks = await Promise.all(endings.map((script) => spawnScript(server(), thread, script)))
    for (const { id } of tasks) await client.cancel(thread, { task: id })
    for (const { id } of tasks) await client.cancel(thread, { task: id })
    for (const { id } of tasks) await client.send(thread, id, 'late').catch(() => {})
    const last = await client.run(thread, { agent: 'echo', prompt: 'last' })
    const seen = await watcher.until(isEndOf(last.id))
    for (const { id } of tasks) {
      const own = seen.filter(({ task }) => task === id)
      expect(own.filter(isEndOf(id))).toHaveLength(1)
      expect(own.findIndex(isEndOf(id))).toBe(own.length - 1)
    }
    client.drop()
  })

  it('SSE, NDJSON, pages and a WebSocket tell the same log', async () => {
    const { thread, live } = await mixedThread(server())
    await (await connect('sse', server())).cancel(thread, { task: live })
    const log = await logUntil(server(), thread, isEndOf(live))
    for (const transport of transports) {
      const watcher = await watch(transport, server(), { thread })
      expect(await watcher.until(({ seq }) => seq === log.length)).toEqual(log)
      watcher.close()
    }
    const path = `/v1/threads/${thread}/events?task=${live}`
    const answer = await server().request('GET', path, { headers: { accept: 'application/x-ndjson' } })
    const lines = answer.text.split('\n').filter((line) => line !== '')
    expect(lines.map((line) => JSON.parse(line) as Event)).toEqual(log.filter(({ task }) => task === live))
    const pages: Event[] = []
    for (let after = 0; after < log.length; ) {
      const page = await read<{ events: Event[]; head: number; next: number }>(
        server(),
        `/v1/threads/${thread}/events?after=${after}&limit=3`,
      )
      expect(page.head).toBe(log.length)
      expect(page.events.length).toBeLessThanOrEqual(3)
      pages.push(...page.events)
      expect(page.next).toBe(pages.at(-1)?.seq)
      after = page.next
    }
    expect(pages).toEqual(log)
  })

  it.for(transports)('two clients of one principal both see everything, over %s', async (transport) => {
    const thread = freshThread()
    const clients = [await connect(transport, server()), await connect(transport, server())]
    const watchers: Watcher[] = []
    for (const client of clients) watchers.push(await client.watch({ thread }))
    const runs = await Promise.all(
      clients.map((client, n) => client.run(thread, scriptRun([{ say: `client ${n}` }, { emit: 'tick', times: 20 }]))),
    )
    for (const { id } of runs) for (const watcher of watchers) await watcher.until(isEndOf(id))
    expect(watchers[0]?.events).toEqual(watchers[1]?.events)
    expect(watchers[0]?.events.filter(({ type }) => type === 'text.delta')).toHaveLength(2)
    for (const client of clients) client.drop()
  })
})

/** The log, once it holds this event. */
async function logUntil(server: TestServer, thread: string, isLast: (event: Event) => boolean): Promise<Event[]> {
  const watcher = await watch('sse', server, { thread })
  await watcher.until(isLast)
  watcher.close()
  return logOf(server, thread)
}
