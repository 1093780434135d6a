import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { gate, logOf } from '../scenarios/world.ts'
import { lapse, type NodeOptions, severalNodes, untilStopped, watch } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

/** One attempt records a step and then writes on and on, until it is stopped. */
function writing(begun: () => void) {
  const { promise: stopped, resolve } = Promise.withResolvers<string>()
  const run = async (ctx: AgentContext) => {
    const value = await ctx.step('once', () => 'from the first')
    begun()
    ctx.signal.addEventListener('abort', () => resolve((ctx.signal.reason as { reason: string }).reason))
    while (!ctx.signal.aborted) {
      await ctx.say('. ').catch(() => undefined)
      await new Promise((next) => setImmediate(next))
    }
    return value
  }
  return { run, stopped }
}

const finishing = (ctx: AgentContext) => ctx.step('once', () => 'from the second')

describe('a node whose lease ran out', () => {
  it('REST-14 cannot write an event or an outcome, and stops its agent when it is back', async () => {
    const begun = gate()
    const zombie = writing(begun.open)
    const one = await nodes.open({ agents: { helper: zombie.run }, leaseMs: 900, isRemote: true })
    const two = await nodes.open({ agents: { helper: finishing } })
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    nodes.network.stall()
    expect(await two.wait(id)).toMatchObject({ status: 'completed', result: 'from the first', attempt: 2, epoch: 2 })
    const { head } = await two.thread(thread)
    nodes.network.resume()
    expect(await zombie.stopped).toBe('lost')
    await expect.poll(() => one.isReady()).toBe(true)
    expect((await one.thread(thread)).head).toBe(head)
    expect(await one.get(id)).toMatchObject({ status: 'completed', result: 'from the first' })
    const events = await logOf(two, thread)
    expect(events.filter(({ type }) => type === 'task.completed')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'task.completed', epoch: 2 })
  })

  it('REST-14 stops an agent that writes nothing, too, with every notice lost', async () => {
    const [begun, resumed] = [gate(), gate()]
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { helper: silent.run }, isDeaf: true })
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    const next = untilStopped(resumed.open)
    const two = await nodes.open({ agents: { helper: next.run }, isDeaf: true })
    await lapse(nodes, one)
    await resumed.opened
    expect(await silent.stopped).toBe('lost')
    await one.cancelTask(id)
    expect(await next.stopped).toBe('cancel')
    expect(await two.wait(id)).toMatchObject({ status: 'cancelled', attempt: 2 })
  })

  it('leaves functions of its process as orphaned, and what is queued behind goes on', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const agents = { echo: async () => 'done' }
    const one = await nodes.open({ agents })
    const closure = await one.spawn({ thread, run: silent.run })
    await begun.opened
    const two = await nodes.open({ agents })
    await lapse(nodes, one)
    const ended = await two.wait(closure.id)
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
    expect(await silent.stopped).toBe('lost')
  })

  it('keeps what nobody took over, because its next renewal is in time for that', async () => {
    const begun = gate()
    const silent = untilStopped(begun.open)
    const one = await nodes.open({ agents: { helper: silent.run }, leaseMs: 600 })
    const two = await nodes.open({ agents: {} })
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    await lapse(nodes, one)
    const { node } = await one.info()
    const held = 'SELECT FROM holdfast.nodes WHERE id = $1 AND until_at > 0'
    await expect.poll(() => nodes.schema.query(held, [node])).toHaveLength(1)
    expect(await two.get(id)).toMatchObject({ status: 'running', attempt: 1, epoch: 1 })
    await two.cancelTask(id)
    expect(await silent.stopped).toBe('cancel')
  })
})

describe('nodes whose leases ran out together', () => {
  /** What was executed on the first two when the leases ran out, and something that the third can leave to them. */
  async function atWork(options: NodeOptions) {
    const [resumed, goOn] = [gate(), gate()]
    const begun = [gate(), gate(), gate()]
    const agents = {
      long: async () => {
        begun[0]?.open()
        await goOn.opened
        return 'done'
      },
      moving: async (ctx: AgentContext) => {
        if (ctx.attempt > 1) return resumed.open()
        begun[1]?.open()
        await new Promise(() => {})
      },
    }
    const open = () => nodes.open({ agents, ...options })
    const [one, two, three] = [await open(), await open(), await open()]
    const long = await one.run({ thread, agent: 'long', prompt: 'go' })
    const closure = await two.spawn({
      thread: 'other',
      run: async () => {
        begun[2]?.open()
        await goOn.opened
        return 'done'
      },
    })
    const moving = await three.run({ thread: 'third', agent: 'moving', prompt: 'go' })
    await Promise.all(begun.map(({ opened }) => opened))
    return { one, three, resumed: resumed.opened, goOn: goOn.open, ids: [long.id, closure.id], moving: moving.id }
  }

  const held = (count: number) => async () => {
    const rows = await nodes.schema.query('SELECT FROM holdfast.nodes WHERE until_at > holdfast.clock_ms()')
    return rows.length === count
  }

  async function keepTheirWork(work: Awaited<ReturnType<typeof atWork>>): Promise<void> {
    await work.three.close({ drainMs: 0 })
    // By this they take over what is abandoned again, and have had every occasion to take more.
    await work.resumed
    expect(await work.one.wait(work.moving)).toMatchObject({ status: 'completed', attempt: 2 })
    work.goOn()
    for (const id of work.ids) {
      expect(await work.one.wait(id)).toMatchObject({ status: 'completed', result: 'done', attempt: 1, epoch: 1 })
    }
  }

  it('take nothing from each other, and what is abandoned later goes on', async () => {
    const work = await atWork({ leaseMs: 6_000, isDeaf: true })
    await nodes.schema.query('UPDATE holdfast.nodes SET until_at = 0')
    await expect.poll(held(3)).toBe(true)
    await keepTheirWork(work)
  })

  it('take nothing from each other after an outage that was longer than their leases', async () => {
    const work = await atWork({ leaseMs: 3_000, isRemote: true })
    nodes.network.refuse()
    await expect.poll(held(0)).toBe(true)
    nodes.network.accept()
    await expect.poll(held(3)).toBe(true)
    await keepTheirWork(work)
  })
})

describe('a node whose lease cannot be renewed', () => {
  // As it is where no connection is left for it, or its rights were taken away, while what it writes is still committed.
  const refuseRenewals = `
    CREATE FUNCTION holdfast.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'sorry, too many clients already' USING ERRCODE = '53300'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON holdfast.nodes EXECUTE FUNCTION holdfast.refuse()`

  it('is not ready until it is, though it can write: others would take what it executes for abandoned', async () => {
    const node = await nodes.open({ agents: { helper: async () => 'done' }, leaseMs: 3_000 })
    expect(await node.readiness()).toMatchObject({ isReady: true })
    await nodes.schema.query(refuseRenewals)
    await expect.poll(() => node.readiness()).toEqual({ isReady: false, isDraining: false, isStoreUp: false })
    const { id } = await node.spawn({ thread, agent: 'helper' })
    await node.wait(id)
    expect(await node.isReady()).toBe(false)
    await nodes.schema.query('DROP TRIGGER refuse ON holdfast.nodes')
    await expect.poll(() => node.isReady()).toBe(true)
  })
})

describe('a hand-over', () => {
  it('REST-16 goes on from the last step on the next node, and is no crash', async () => {
    const begun = gate()
    const first = writing(begun.open)
    const one = await nodes.open({ agents: { helper: first.run } })
    const two = await nodes.open({ agents: { helper: finishing }, isDeaf: true })
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    await begun.opened
    const seen = watch(two, thread)
    await one.close({ drainMs: 0 })
    expect(await first.stopped).toBe('handover')
    expect(await two.wait(id)).toMatchObject({ status: 'completed', result: 'from the first', attempt: 2 })
    const [row] = await nodes.schema.query<{ doc: string }>('SELECT doc FROM holdfast.tasks WHERE id = $1', [id])
    expect(JSON.parse(row?.doc ?? '{}')).toMatchObject({ crashes: 0 })
    await seen.until('task.completed')
    expect(seen.events.map(({ seq }) => seq)).toEqual(seen.events.map((_, n) => n + 1))
  })
})
