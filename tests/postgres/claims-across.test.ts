import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { counterOf } from '../scenarios/counters.ts'
import { gate } from '../scenarios/world.ts'
import { severalNodes, watch } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'

/** One node that accepts and has one slot, and two more that race for what it leaves. */
async function openThree(
  agents: Record<string, (ctx: AgentContext) => Promise<unknown>>,
  isDeaf: boolean,
): Promise<[Runtime, Runtime, Runtime]> {
  const open = (concurrency: number) => nodes.open({ agents, concurrency, isDeaf })
  return [await open(1), await open(4), await open(4)]
}

/** One after the other, over and over. */
function inTurn([one, two, three]: readonly [Runtime, Runtime, Runtime], n: number): Runtime {
  if (n % 3 === 0) return one
  return n % 3 === 1 ? two : three
}

describe.each([
  { isDeaf: false, how: 'by notices' },
  { isDeaf: true, how: 'with every notice lost' },
])('nodes that race for the same work, $how', ({ isDeaf }) => {
  it('start each run once, those of a thread one after the other in the order of their acceptance', async () => {
    const executed: string[] = []
    const overlaps: string[] = []
    const running = new Set<string>()
    const helper = async (ctx: AgentContext) => {
      executed.push(ctx.taskId)
      if (running.has(ctx.thread)) overlaps.push(ctx.taskId)
      running.add(ctx.thread)
      await ctx.say('x')
      await ctx.step('written', () => 1)
      running.delete(ctx.thread)
    }
    const runtimes = await openThree({ helper }, isDeaf)
    const threads = ['a', 'b', 'c', 'd']
    const accepted: Record<string, string[]> = {}
    for (let n = 0; n < 24; n++) {
      const key = threads[n % threads.length] ?? ''
      const { id } = await inTurn(runtimes, n).run({ thread: key, agent: 'helper', prompt: `${n}` })
      accepted[key] = [...(accepted[key] ?? []), id]
    }
    const ids = Object.values(accepted).flat()
    const ended = await Promise.all(ids.map((id) => runtimes[0].wait(id)))
    for (const task of ended) expect(task).toMatchObject({ status: 'completed', attempt: 1 })
    expect(executed.toSorted()).toEqual(ids.toSorted())
    expect(overlaps).toEqual([])
    for (const key of threads) {
      expect(executed.filter((id) => accepted[key]?.includes(id))).toEqual(accepted[key])
    }
  })
})

describe('nodes on one database', () => {
  it('LIFE-16 never give two tasks the same id, however many are spawned at the same time', async () => {
    const runtimes = await openThree({}, true)
    const spawned = await Promise.all(
      Array.from({ length: 60 }, (_, n) => inTurn(runtimes, n).spawn({ thread: `t${n}`, run: () => n })),
    )
    expect(new Set(spawned.map((task) => task.id)).size).toBe(60)
    for (const task of spawned) expect(task.id).toMatch(/^bg_[0-9]+$/)
  })

  it('LIFE-16 go on when a number is handed out that is in use already, and never try it again', async () => {
    const [one, two] = [await nodes.open(), await nodes.open()]
    const spawn = (runtime: Runtime, n: number) => runtime.spawn({ thread: `t${n}`, run: () => n })
    for (const n of [0, 1, 2]) await spawn(one, n)
    const setBack = (count: number) =>
      nodes.schema.query('UPDATE holdfast.meta SET next_task = next_task - $1', [count])
    await setBack(1)
    expect(await spawn(two, 3)).toMatchObject({ id: 'bg_3' })
    await setBack(3)
    await expect(spawn(two, 4)).rejects.toMatchObject({ code: '23505' })
    expect(await spawn(two, 5)).toMatchObject({ id: 'bg_4' })
    expect(await two.wait('bg_4')).toMatchObject({ status: 'completed', result: 5 })
  })

  it('NAME-02 give a name to one of two tasks that are spawned with it at the same time', async () => {
    const goOn = gate()
    const slow = async () => goOn.opened
    const runtimes = await openThree({ slow }, true)
    for (let n = 0; n < 5; n++) {
      const racing = runtimes.map((runtime) => runtime.spawn({ thread, agent: 'slow', name: `name${n}` }))
      const outcomes = await Promise.allSettled(racing)
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
      expect(refusals).toMatchObject([{ code: 'name_taken' }, { code: 'name_taken' }])
    }
    goOn.open()
  })

  it('RUN-16 accept a request with one idempotency key once, whichever of them is asked', async () => {
    const runtimes = await openThree({ echo: async () => 'done' }, true)
    const request = { thread, agent: 'echo', prompt: 'go', idempotencyKey: 'k' }
    const accepted = await Promise.all(runtimes.map((runtime) => runtime.run(request)))
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(1)
    expect(accepted.filter(({ isReplayed }) => isReplayed)).toHaveLength(2)
  })

  it('RUN-14 let a run outlive whoever started it on one of them: another sees it end', async () => {
    const goOn = gate()
    const helper = async (ctx: AgentContext) => {
      await goOn.opened
      await ctx.say('done')
    }
    const [one, two] = [await nodes.open({ agents: { helper } }), await nodes.open()]
    const { id } = await one.run({ thread, agent: 'helper', prompt: 'go' })
    const first = one.subscribe({ thread })
    expect((await first.next()).value).toMatchObject({ type: 'task.accepted' })
    await first.return?.()
    const seen = watch(two, thread)
    goOn.open()
    await seen.until('task.completed')
    expect(await two.get(id)).toMatchObject({ status: 'completed' })
  })

  it('count what none of their agents can do, and one of them that comes with the agent does it', async () => {
    const one = await nodes.open({ agents: { rare: async () => 'done' }, concurrency: 1, isDeaf: true })
    const goOn = gate()
    const blocked = await one.spawn({ thread: 'other', run: () => goOn.opened })
    const { id } = await one.run({ thread, agent: 'rare', prompt: 'go' })
    const two = await nodes.open({ isDeaf: true })
    await expect.poll(() => counterOf(two, 'holdfast_unclaimable_tasks')).toBe(1)
    await nodes.open({ agents: { rare: async () => 'done by the third' }, isDeaf: true })
    expect(await two.wait(id)).toMatchObject({ status: 'completed', result: 'done by the third' })
    goOn.open()
    await one.wait(blocked.id)
  })

  it('refuse work beyond what a principal may have open on all of them, at most a second late', async () => {
    const goOn = gate()
    const slow = async () => goOn.opened
    const limits = { openTasksPerPrincipal: 3 }
    const open = (): Promise<Runtime> => nodes.open({ agents: { slow }, limits, isDeaf: true })
    const [one, two] = [await open(), await open()]
    for (let n = 0; n < 3; n++) await one.spawn({ thread, agent: 'slow' })
    const refusal = async () => {
      try {
        await two.cancel((await two.spawn({ thread, agent: 'slow' })).id)
        return 'accepted'
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    await expect.poll(refusal, { interval: 200 }).toBe('limit_reached')
    expect(await two.as('other').spawn({ thread, agent: 'slow' })).toMatchObject({ thread })
    goOn.open()
  })

  it('remove what need not be kept together, each event once, when all of them apply a retention at the same time', async () => {
    const talker = async (ctx: AgentContext) => {
      for (let n = 0; n < 40; n++) await ctx.step(`${n}`, () => ctx.say('x'))
    }
    const runtimes = await openThree({ talker }, true)
    const threads = ['a', 'b', 'c']
    for (const key of threads) {
      const { id } = await runtimes[0].run({ thread: key, agent: 'talker', prompt: 'go' })
      await runtimes[0].wait(id)
    }
    const pruned = await Promise.all(runtimes.map((runtime) => runtime.prune({ eventsPerThread: 10 })))
    const snapshots = await Promise.all(threads.map((key) => runtimes[1].thread(key)))
    const goneCount = snapshots.reduce((sum, snapshot) => sum + snapshot.first - 1, 0)
    expect(goneCount).toBeGreaterThan(60)
    expect(pruned.reduce((sum, { events }) => sum + events, 0)).toBe(goneCount)
  })
})
