import { describe, expect, it } from 'vitest'
import type { Event, Runtime } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { commit, deltas, headOf, unit } from '../../src/testing/store-suite/builders.ts'
import { copyOf } from './harness/copy.ts'
import { severalNodes, untilStopped, watch } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'
const agents = { echo: async () => 'done' }

async function runOnce(runtime: Runtime): Promise<void> {
  const { id } = await runtime.run({ thread, agent: 'echo', prompt: 'hello' })
  await runtime.wait(id)
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}

function seqsOf(events: readonly Event[]): number[] {
  return events.map(({ seq }) => seq)
}

describe('a store that is put back to an earlier state under its nodes', () => {
  it('ends who watches a thread that is no longer as long, and says so in the log', async () => {
    const said: string[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (_facts: object, text: string) => void said.push(text) }
    const node = await nodes.open({ agents, log })
    await runOnce(node)
    const putBack = await copyOf(nodes.schema)
    const { head } = await node.thread(thread)
    await runOnce(node)
    const seen: Event[] = []
    const watching = (async () => {
      for await (const event of node.subscribe({ thread })) seen.push(event)
    })()
    await expect.poll(() => seen.length).toBe(head * 2)
    await putBack()
    await watching
    expect(said).toContainEqual(expect.stringContaining('put back to an earlier state'))
    const later = watch(node, thread)
    await expect.poll(() => later.events.length).toBe(head)
    // The first commit finds that the store does not know what it was sent, and is refused.
    await expect(runOnce(node)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect.poll(() => runOnce(node).then(() => 'done', codeOf)).toBe('done')
    await expect.poll(() => seqsOf(later.events)).toEqual(seqsOf(seen))
  })

  it.each(['the node that is listened to', 'another node'])(
    'ends who listens to all threads, though nobody watches one, once %s writes there again',
    async (by) => {
      const node = await nodes.open({ agents })
      const writer = by === 'another node' ? await nodes.open({ agents }) : node
      await runOnce(node)
      const putBack = await copyOf(nodes.schema)
      const firehose = await node.openFirehose()
      await runOnce(node)
      let seenCount = 0
      const listening = (async () => {
        for (let batch = await firehose.next(); batch; batch = await firehose.next()) seenCount += batch.length
      })()
      await expect.poll(() => seenCount).toBeGreaterThan(0)
      await putBack()
      await expect.poll(() => runOnce(writer).then(() => 'done', codeOf)).toBe('done')
      await listening
    },
  )

  it('is looked into no more than before by who comes to watch while another still waits for what was lost', async () => {
    const node = await nodes.open({ agents })
    await runOnce(node)
    const putBack = await copyOf(nodes.schema)
    const { head } = await node.thread(thread)
    await runOnce(node)
    const before = watch(node, thread)
    await expect.poll(() => before.events.length).toBe(head * 2)
    await putBack()
    // The first finds that the log is not what it was, and ends; whoever comes back is given what there is.
    const seen = watch(node, thread)
    await expect.poll(async () => (await node.thread(thread)).watchers).toBe(0)
    const again = watch(node, thread)
    await expect.poll(() => again.events.length).toBe(head)
    expect(seen.events.length).toBeLessThanOrEqual(head)
  })

  it('is not written to by what a node remembers of a thread, though its revision is the same again', async () => {
    const { run } = untilStopped()
    const one = await nodes.open({ agents: { ...agents, run }, isDeaf: true, ids: 'random' })
    const two = await nodes.open({ agents: { ...agents, run }, isDeaf: true, ids: 'random' })
    await runOnce(one)
    const putBack = await copyOf(nodes.schema)
    await runOnce(one)
    const revs = () => nodes.schema.query(`SELECT rev FROM holdfast.threads WHERE key LIKE '%/${thread}'`)
    const before = await revs()
    await putBack()
    // Another node brings the thread to where the first has left it, with a run that is live.
    await two.run({ thread, agent: 'run', prompt: 'first' })
    await two.run({ thread, agent: 'run', prompt: 'second' })
    expect(await revs()).toEqual(before)
    await expect(one.spawn({ thread: 'other', agent: 'echo' })).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect.poll(() => one.isReady()).toBe(true)
    expect(await one.run({ thread, agent: 'run', prompt: 'third' })).toMatchObject({ status: 'pending' })
  })

  it('G19 goes on with a run that had ended, and with what waits behind it, though its node lives', async () => {
    const gate = Promise.withResolvers<string>()
    const node = await nodes.open({ agents: { ...agents, gated: () => gate.promise }, leaseMs: 600 })
    const { id } = await node.run({ thread, agent: 'gated', prompt: 'hello' })
    const behind = await node.run({ thread, agent: 'echo', prompt: 'and then' })
    await expect.poll(async () => (await node.get(id))?.status).toBe('running')
    const putBack = await copyOf(nodes.schema)
    gate.resolve('done')
    await Promise.all([node.wait(id), node.wait(behind.id)])
    await putBack()
    expect(await node.get(id)).toMatchObject({ status: 'running', attempt: 1 })
    await expect.poll(() => node.get(behind.id)).toMatchObject({ status: 'completed' })
    expect(await node.get(id)).toMatchObject({ status: 'completed', attempt: 2, result: 'done' })
  })

  it('stops a run that it does not know any more', async () => {
    const { run, stopped } = untilStopped()
    const node = await nodes.open({ agents: { ...agents, run } })
    const putBack = await copyOf(nodes.schema)
    await node.run({ thread, agent: 'run', prompt: 'hello' })
    await putBack()
    expect(await stopped).toBe('lost')
  })
})

describe('a schema that is gone, as while a copy is put in its place', () => {
  it('makes the store unavailable to all that is asked of it, and nothing is held against what was to be written', async () => {
    const { url, name, query } = nodes.schema
    const store = postgresStore({ url })
    await store.open()
    await commit(store, unit({ events: deltas(1) }))
    await query(`ALTER SCHEMA ${name} RENAME TO ${name}_gone`)
    const asked = [
      () => store.commit([unit({ events: deltas(1) })]),
      () => store.commit([]),
      () => store.renew('node', 60_000),
      () => store.allocate(1),
      () => headOf(store),
    ]
    for (const ask of asked) {
      const refusal = { code: 'store_unavailable', message: expect.stringContaining('holdfast doctor') }
      await expect(ask()).rejects.toMatchObject(refusal)
    }
    await query(`ALTER SCHEMA ${name}_gone RENAME TO ${name}`)
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(2)
    await store.close()
  })
})
