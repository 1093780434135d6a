import { expect, it } from 'vitest'
import {
  type AgentContext,
  backgroundTasks,
  createInbox,
  type Event,
  HoldfastError,
  type Logger,
} from '../../src/index.ts'
import { eventsOf, gate, onEachStore } from './world.ts'

function trouble(): never {
  throw new Error('a callback of the user throws')
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('INBX-19 a fallback that throws or rejects harms no task, and an inbox set anew works at once', async () => {
    const told: string[] = []
    const inboxes = [
      createInbox({ onClosed: trouble, onError: trouble }),
      createInbox({
        onClosed: () => Promise.reject(new Error('later')),
        onError: (error) => void told.push(String(error)),
      }),
    ]
    for (const inbox of inboxes) inbox.close()
    const runtime = await world().open()
    const isReplaced = gate()
    const run = async (ctx: AgentContext) => {
      await ctx.emit('lost')
      const wasTaken = ctx.owner?.send('lost as well')
      await isReplaced.opened
      await ctx.emit('found')
      return [wasTaken, ctx.owner?.send('found as well')]
    }
    const tasks = []
    for (const inbox of inboxes) {
      await runtime.setInbox(inbox)
      tasks.push(await runtime.spawn({ thread: 't', run }))
      await runtime.wait((await runtime.spawn({ thread: 't', run: () => 'beside it' })).id)
    }
    const fresh = createInbox()
    await runtime.setInbox(fresh)
    isReplaced.open()
    for (const task of tasks) {
      expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: [false, true] })
    }
    const kinds = fresh.drain().map((item) => (item.kind === 'custom' ? item.eventType : item.kind))
    expect(kinds.toSorted()).toEqual(['completed', 'completed', 'found', 'found', 'found as well', 'found as well'])
    expect(new Set(told)).toEqual(new Set(['Error: later']))
  })

  it('INBX-19 a subscriber that throws ends its own loop, and nobody else notices', async () => {
    const runtime = await world().open()
    const isWatched = gate()
    const goOn = gate()
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        await isWatched.opened
        await ctx.say('one')
        await goOn.opened
        await ctx.say('two')
      },
    })
    const throwing = (async () => {
      for await (const event of runtime.subscribe({ thread: 't' })) if (event.type === 'text.delta') trouble()
    })()
    const seen: Event[] = []
    const patient = (async () => {
      for await (const event of runtime.subscribe({ thread: 't', task: task.id })) seen.push(event)
    })()
    isWatched.open()
    await expect(throwing).rejects.toThrow('a callback of the user throws')
    goOn.open()
    await patient
    expect(seen).toEqual(await eventsOf(runtime, 't', task.id))
    expect(seen.filter((event) => event.type === 'text.delta')).toHaveLength(2)
    expect((await runtime.thread('t')).watchers).toBe(0)
  })

  it('INBX-19 a logger that throws is not heard, and everything goes on', async () => {
    const here = world()
    const log: Logger = { debug: trouble, info: trouble, warn: trouble, error: trouble }
    const runtime = await here.open({ log })
    here.store.down()
    await expect(runtime.spawn({ thread: 't', run: () => 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
    here.store.up()
    await here.clock.advance(10_000)
    await here.quiet()
    const task = await runtime.spawn({
      thread: 't',
      run: (ctx) => {
        ctx.log.info({}, 'an agent logs as well')
        return 'done'
      },
    })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: 'done' })
  })

  it('INBX-19 hooks of a plugin whose callbacks throw neither fail the run nor the next one', async () => {
    const here = world()
    const told: string[] = []
    const agents = {
      helper: async (ctx: AgentContext) => {
        const plugin = backgroundTasks(runtime, {
          load: trouble,
          persist: trouble,
          onError: (_error, { at, thread }) => {
            told.push(`${at} ${thread}`)
            trouble()
          },
        })
        await plugin.onRunStart({ thread: ctx.thread })
        await plugin.onRunEnd({ thread: ctx.thread })
        return 'answered'
      },
    }
    const runtime = await here.open({ agents })
    for (const prompt of ['one', 'two']) {
      const run = await runtime.run({ thread: 't', agent: 'helper', prompt })
      expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'answered' })
    }
    expect(told).toEqual(['run_start t', 'run_end t', 'run_start t', 'run_end t'])
  })

  it('INBX-19 an onFatal that throws changes nothing of what is known: nothing is told as done', async () => {
    const here = world()
    const fatal: unknown[] = []
    const runtime = await here.open({
      onFatal: (error) => {
        fatal.push(error)
        trouble()
      },
    })
    const { id } = await runtime.spawn({ thread: 't', run: () => 'done' })
    await runtime.wait(id)
    here.store.plan(() => {
      throw new HoldfastError('store_failed', 'The disk did not confirm a write')
    })
    await expect(runtime.spawn({ thread: 't', run: () => 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(fatal).toMatchObject([{ code: 'store_failed' }])
    expect(await runtime.isReady()).toBe(false)
    expect((await runtime.list({ thread: 't' })).tasks).toHaveLength(1)
    here.store.up()
    await here.clock.advance(10_000)
  })
})
