import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../../../src/index.ts'
import type { LogEntry } from '../../../../src/runtime/log-entry.ts'
import { gate } from '../../../scenarios/world.ts'
import { turnUntil } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'

const say = (count: number) => ({ script: Array.from({ length: count }, (_, n) => ({ say: `${n} ` })) })

describe('attach', () => {
  servedOnEachStore(['memory', 'sqlite'], (serve) => {
    it('gives an empty snapshot of a thread never used, and then what happens', async () => {
      const { sockets, runtime } = await serve()
      const client = await sockets.connect()
      client.send({ type: 'attach', id: 'a', thread: 't' })
      expect(await client.next()).toEqual({ type: 'attached', id: 'a', head: 0 })
      const lists = { messages: [], tasks: [], live: [], questions: [] }
      expect(await client.next()).toEqual({ type: 'snapshot', id: 'a', head: 0, first: 1, ...lists })
      const run = await runtime.as('alice').run({ thread: 't', agent: 'script', prompt: 'hi' })
      const read = await client.until(({ event }) => (event as { type?: string })?.type === 'task.completed')
      expect(read.every(({ type, id }) => type === 'event' && id === 'a')).toBe(true)
      const log = await runtime.as('alice').logPage('t')
      expect(client.texts.slice(2)).toEqual(log.entries.map(({ text }) => `{"type":"event","id":"a","event":${text}}`))
      expect(client.events('a')[0]).toMatchObject({ task: run.id, seq: 1, type: 'task.accepted' })
    })

    it('gives a snapshot and then what follows its head, without a seam', async () => {
      const enough = gate()
      let isEnough = false
      const agent = async (ctx: AgentContext) => {
        for (let n = 0; !isEnough; n += 1) {
          await ctx.say(`${n} `)
          await nextTurn()
        }
        enough.open()
      }
      const { sockets, runtime } = await serve({ agents: { talker: agent } })
      const client = await sockets.connect()
      const run = await client.ask({ type: 'run', id: 'r', thread: 't', agent: 'talker', prompt: 'x' })
      const task = (run['task'] as { id: string }).id
      const watchers = await Promise.all(Array.from({ length: 10 }, () => sockets.connect()))
      for (const watcher of watchers) {
        watcher.send({ type: 'attach', id: 1, thread: 't', task })
        await watcher.until(({ type }) => type === 'event')
      }
      isEnough = true
      await enough.opened
      await Promise.all(watchers.map((watcher) => watcher.until(({ type }) => type === 'end')))
      const entries = await wholeLog(runtime.as('alice'), 't')
      for (const { frames, texts } of watchers) {
        const [attached, snapshot] = frames
        const head = snapshot?.['head'] as number
        expect(attached).toEqual({ type: 'attached', id: 1, head })
        expect(snapshot).toMatchObject({
          id: 1,
          messages: [{ role: 'user' }],
          tasks: [{ id: task, status: 'running' }],
        })
        const said = entries.slice(0, head).flatMap(({ text }) => textOf(text))
        const parts = [{ type: 'text', text: said.join('') }]
        expect(snapshot?.['live']).toEqual(said.length > 0 ? [{ task, parts }] : [])
        const rest = entries.slice(head).map(({ text }) => `{"type":"event","id":1,"event":${text}}`)
        const given = texts.slice(2, -1)
        expect(given.length).toBe(rest.length)
        expect(given.findIndex((text, index) => text !== rest[index])).toBe(-1)
        expect(frames.at(-1)).toEqual({ type: 'end', id: 1, task })
      }
    })

    it('resumes at any number with no gap and no repeat', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const run = await alice.run({ thread: 't', agent: 'script', input: say(30) })
      await alice.wait(run.id)
      const { entries, head } = await alice.logPage('t', { limit: 1000 })
      const client = await sockets.connect()
      let id = 0
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: head }), fc.boolean(), async (after, isByTask) => {
          id += 1
          const attach = { type: 'attach', id, thread: 't', after, ...(isByTask && { task: run.id }) }
          client.send(attach)
          const rest = entries.slice(after).map(({ text }) => text)
          if (isByTask) await client.until((frame) => frame.type === 'end' && frame.id === id)
          else await turnUntil(() => client.events(id).length >= rest.length)
          await client.ask({ type: 'detach', id: `d${id}`, thread: 't', ...(isByTask && { task: run.id }) })
          const texts = client.texts.filter((text) => text.startsWith(`{"type":"event","id":${id},`))
          expect(texts).toEqual(rest.map((text) => `{"type":"event","id":${id},"event":${text}}`))
        }),
        { numRuns: 60 },
      )
    })

    it('gives all of a run that is under way, from any number on, to every client', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const first = await sockets.connect()
      const clients = [first, ...(await Promise.all(Array.from({ length: 7 }, () => sockets.connect())))]
      const accepted = await first.ask({ type: 'run', id: 'r', thread: 't', agent: 'script', input: say(300) })
      const task = (accepted['task'] as { id: string }).id
      for (const client of clients) client.send({ type: 'attach', id: 'a', thread: 't', task, after: 0 })
      await Promise.all(clients.map((client) => client.until(({ type }) => type === 'end')))
      const { entries } = await alice.logPage('t', { limit: 1000 })
      for (const client of clients) {
        expect(client.events('a').map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq))
        expect(client.frames.filter(({ type }) => type === 'end')).toHaveLength(1)
      }
    })

    it('ends at once after the snapshot, or after the offset, of a task that has ended', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const { id: task } = await alice.run({ thread: 't', agent: 'script', prompt: 'x' })
      await alice.wait(task)
      const { head } = await alice.thread('t')
      const client = await sockets.connect()
      client.send({ type: 'attach', id: 1, thread: 't', task })
      await client.until(({ type }) => type === 'end')
      expect(client.frames.map(({ type }) => type)).toEqual(['attached', 'snapshot', 'end'])
      client.send({ type: 'attach', id: 2, thread: 't', task, after: head })
      await client.until(({ type }) => type === 'end')
      expect(client.frames.slice(3)).toEqual([
        { type: 'attached', id: 2, head },
        { type: 'end', id: 2, task },
      ])
      expect(sockets.parts.streams.count).toBe(1)
    })

    it('gives the ending exactly once to whoever attaches while the run ends', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      for (let round = 0; round < 40; round += 1) {
        const thread = `t${round}`
        const run = await client.ask({ type: 'run', id: `r${round}`, thread, agent: 'script', input: say(round % 7) })
        const task = (run['task'] as { id: string }).id
        for (let turn = 0; turn < round % 5; turn += 1) await client.ask({ type: 'ping', id: `p${round}.${turn}` })
        client.send({ type: 'attach', id: round, thread, task, ...(round % 2 === 0 && { after: 0 }) })
        const read = await client.until((frame) => frame.type === 'end' && frame.id === round)
        const snapshot = read.find(({ type }) => type === 'snapshot')
        const tasks = (snapshot?.['tasks'] ?? []) as { id: string; status: string }[]
        const isInSnapshot = tasks.some(({ id, status }) => id === task && status === 'completed')
        const endings = client.events(round).filter(({ type }) => type === 'task.completed')
        expect(endings).toHaveLength(isInSnapshot ? 0 : 1)
      }
    })

    it('filters by types, but for the terminal event of a named task', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const { id: task } = await alice.run({ thread: 't', agent: 'script', input: say(3) })
      await alice.wait(task)
      const client = await sockets.connect()
      client.send({ type: 'attach', id: 1, thread: 't', task, after: 0, types: ['text.delta'] })
      await client.until(({ type }) => type === 'end')
      const types = client.events(1).map(({ type }) => type)
      expect(types).toEqual(['text.delta', 'text.delta', 'text.delta', 'task.completed'])
    })

    it('refuses the thread ids that no URL can name', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      for (const thread of ['.', '..']) {
        const answer = await client.ask({ type: 'attach', id: 1, thread })
        expect(answer).toMatchObject({ type: 'error', problem: { code: 'invalid_request', status: 400 } })
      }
    })

    it('refuses offsets that are not in the log, and stays attached to what it was', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      await alice.wait((await alice.run({ thread: 't', agent: 'script', prompt: 'x' })).id)
      const { head } = await alice.thread('t')
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 'first', thread: 't', after: head })
      const ahead = await client.ask({ type: 'attach', id: 1, thread: 't', after: head + 1 })
      expect(ahead).toMatchObject({ type: 'error', problem: { code: 'offset_ahead', status: 409, head } })
      for (const after of [-1, 1.5, 2 ** 53, '3', null, [], true]) {
        const answer = await client.ask({ type: 'attach', id: 2, thread: 't', after })
        expect(answer).toMatchObject({ type: 'error', problem: { code: 'invalid_request', status: 400 } })
      }
      await alice.run({ thread: 't', agent: 'script', prompt: 'y' })
      await client.until(({ event }) => (event as { type?: string })?.type === 'task.completed')
      expect(client.events('first')[0]?.seq).toBe(head + 1)
    })

    it('sends nothing of an attachment after one that replaces it, or after its detach', async () => {
      const { sockets } = await serve()
      const client = await sockets.connect()
      const run = await client.ask({ type: 'run', id: 'r', thread: 't', agent: 'script', input: say(400) })
      const task = (run['task'] as { id: string }).id
      for (let id = 0; id < 30; id += 1) {
        client.send({ type: 'attach', id, thread: 't', after: 0 })
        if (id % 3 === 0) await client.ask({ type: 'ping', id: `p${id}` })
      }
      await client.ask({ type: 'detach', id: 'd', thread: 't' })
      await client.ask({ type: 'attach', id: 'last', thread: 't', task, after: 0 })
      await client.until(({ type }) => type === 'end')
      let current: string | number | undefined
      for (const { type, id } of client.frames) {
        if (type === 'attached') current = id
        if (type === 'detached') current = undefined
        if (type === 'event') expect(id).toBe(current)
      }
      expect(sockets.parts.streams.count).toBe(1)
    })

    it('is apart for a thread and for each of its tasks', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 'all', thread: 't', after: 0 })
      const one = await alice.run({ thread: 't', agent: 'script', prompt: 'one' })
      const two = await alice.run({ thread: 't', agent: 'script', prompt: 'two' })
      client.send({ type: 'attach', id: 1, thread: 't', task: one.id, after: 0 })
      client.send({ type: 'attach', id: 2, thread: 't', task: two.id, after: 0 })
      await client.until(({ type, id }) => type === 'end' && id === 2)
      await turnUntil(() => client.frames.filter(({ type }) => type === 'end').length === 2)
      expect(client.events(1).every(({ task }) => task === one.id)).toBe(true)
      expect(client.events(2).every(({ task }) => task === two.id)).toBe(true)
      const { head } = await alice.thread('t')
      await turnUntil(() => client.events('all').length === head)
    })

    it('is told when its thread is deleted', async () => {
      const { sockets, runtime } = await serve()
      const alice = runtime.as('alice')
      const client = await sockets.connect()
      await client.ask({ type: 'attach', id: 'a', thread: 't', after: 0 })
      const { id: task } = await alice.run({ thread: 't', agent: 'script', input: { script: [{ hang: true }] } })
      await client.ask({ type: 'attach', id: 'b', thread: 't', task, after: 0 })
      await alice.deleteThread('t')
      await turnUntil(() => client.frames.some(({ type }) => type === 'detached'))
      await turnUntil(() => client.frames.some(({ type }) => type === 'end'))
      expect(client.events('a').at(-1)?.type).toBe('task.cancelled')
      expect(client.events('b').at(-1)?.type).toBe('task.cancelled')
      expect(client.frames.filter(({ type }) => type === 'detached')).toEqual([{ type: 'detached', id: 'a' }])
      expect(sockets.parts.streams.count).toBe(1)
    })
  })
})

async function wholeLog(runtime: Runtime, thread: string): Promise<LogEntry[]> {
  const all: LogEntry[] = []
  for (let after = 0; ; ) {
    const { entries, head, next } = await runtime.logPage(thread, { after, limit: 1000 })
    all.push(...entries)
    after = next
    if (next === head) return all
  }
}

function textOf(text: string): string[] {
  const event = JSON.parse(text) as { type: string; data: { text: string } }
  return event.type === 'text.delta' ? [event.data.text] : []
}
