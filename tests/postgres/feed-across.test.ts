import { describe, expect, it } from 'vitest'
import type { AgentContext, Event, Runtime } from '../../src/index.ts'
import { entriesOf } from '../../src/runtime/log-stretch.ts'
import { counterOf } from '../scenarios/counters.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes, untilStopped, watch } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

/** Writes some, and when it is let go some more. */
function talker() {
  const [begun, goOn] = [gate(), gate()]
  const run = async (ctx: AgentContext) => {
    await ctx.say('first')
    await ctx.step('written', () => 1)
    begun.open()
    await goOn.opened
    for (let n = 0; n < 20; n++) await ctx.say(`${n} `)
  }
  return { run, begun: begun.opened, goOn: goOn.open }
}

/** What a firehose gives, as it comes. */
async function hearAll(runtime: Runtime): Promise<Event[]> {
  const heard: Event[] = []
  const firehose = await runtime.openFirehose()
  void (async () => {
    for (let batch = await firehose.next(); batch; batch = await firehose.next()) {
      heard.push(...batch.map(({ text }) => JSON.parse(text) as Event))
    }
  })()
  return heard
}

describe('a reader on another node', () => {
  it.each([
    ['with every notice lost', true],
    ['by notices', false],
  ])('EVNT-04 sees a log that two nodes write to, each number once and in order, %s', async (_how, isDeaf) => {
    const [left, right] = [talker(), talker()]
    const one = await nodes.open({ agents: { left: left.run }, isDeaf })
    const two = await nodes.open({ agents: { right: right.run }, isDeaf })
    const three = await nodes.open({ isDeaf })
    const seen = watch(three, thread)
    const tasks = [await one.spawn({ thread, agent: 'left' }), await two.spawn({ thread, agent: 'right' })]
    await Promise.all([left.begun, right.begun])
    await seen.until('text.delta')
    left.goOn()
    right.goOn()
    await Promise.all([one.wait(tasks[0]?.id ?? ''), two.wait(tasks[1]?.id ?? '')])
    const { head } = await three.thread(thread)
    await expect.poll(() => seen.events.length).toBe(head)
    expect(seen.events.map(({ seq }) => seq)).toEqual(seen.events.map((_, n) => n + 1))
  })
})

describe('a reader on another node, with every notice lost', () => {
  it('EVNT-02 hears of all threads of its principal, those that nobody wrote to before as well', async () => {
    const one = await nodes.open({ agents: { echo: async () => 'done' }, isDeaf: true })
    await one.wait((await one.run({ thread: 'known', agent: 'echo', prompt: 'before' })).id)
    const two = await nodes.open({ isDeaf: true })
    const heard = await hearAll(two)
    const others = await hearAll(two.as('somebody'))
    await one.wait((await one.run({ thread: 'known', agent: 'echo', prompt: 'after' })).id)
    await one.wait((await one.run({ thread: 'fresh', agent: 'echo', prompt: 'after' })).id)
    const ended = () => heard.filter(({ type }) => type === 'task.completed').map((event) => event.thread)
    await expect.poll(ended).toHaveLength(2)
    expect(new Set(ended())).toEqual(new Set(['known', 'fresh']))
    for (const name of ['known', 'fresh']) {
      const seqs = heard.filter((event) => event.thread === name).map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n))
    }
    expect(heard.find((event) => event.thread === 'known')?.seq).toBeGreaterThan(1)
    expect(others).toEqual([])
  })

  it('hears of other threads while its node executes in one that cannot be read', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { silent: silent.run }, isDeaf: true })
    await one.run({ thread: 'torn', agent: 'silent', prompt: 'go' })
    await begun.opened
    const heard = await hearAll(one)
    await nodes.schema.query(`UPDATE holdfast.tasks SET doc = '{'`)
    await nodes.schema.query('UPDATE holdfast.threads SET rev = rev + 1')
    const two = await nodes.open({ agents: { echo: async () => 'done' }, isDeaf: true })
    await two.run({ thread, agent: 'echo', prompt: 'go' })
    await expect.poll(() => heard.map(({ type }) => type)).toContain('task.completed')
  })
})

describe('a thread that another node deletes', () => {
  it('ends for its readers after all that was live in it, with every notice lost', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { silent: silent.run }, isDeaf: true })
    const two = await nodes.open({ isDeaf: true })
    await expect.poll(() => counterOf(one, 'holdfast_nodes')).toBe(2)
    await one.run({ thread, agent: 'silent', prompt: 'go' })
    await begun.opened
    const seen: string[] = []
    const reading = (async () => {
      for await (const { type } of two.subscribe({ thread })) seen.push(type)
    })()
    await expect.poll(() => seen).toContain('task.started')
    await one.deleteThread(thread)
    await reading
    expect(seen.at(-1)).toBe('task.cancelled')
    expect((await one.thread(thread)).messages).toEqual([])
  })

  it('is over for its readers, who see what is written after only if they come back', async () => {
    const agents = { echo: async () => 'done' }
    const [one, two] = [await nodes.open({ agents }), await nodes.open({ agents })]
    await one.wait((await one.run({ thread, agent: 'echo', prompt: 'go' })).id)
    const cursor = await two.openLog({ thread })
    const first = await cursor.next()
    const { head } = await two.thread(thread)
    expect(first && entriesOf(first).at(-1)?.seq).toBe(head)
    const next = cursor.next()
    await one.deleteThread(thread)
    expect(await next).toBeUndefined()
    const again = await two.openLog({ thread, after: head })
    await one.run({ thread, agent: 'echo', prompt: 'anew' })
    expect(entriesOf((await again.next()) ?? [])[0]?.seq).toBe(head + 1)
    again.close()
  })
})
