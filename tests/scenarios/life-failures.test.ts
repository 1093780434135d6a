import { expect, it, onTestFinished } from 'vitest'
import { type AgentContext, type AgentFunction, isTerminal } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { untilStopped } from './bodies.ts'
import { eventsOf, gate, logOf, onEachStore, type World } from './world.ts'

/** Another task, of the same thread, that must not be harmed: it ends as completed when it is asked to. */
async function bystander(runtime: Runtime): Promise<() => Promise<void>> {
  const finish = gate()
  const task = await runtime.spawn({ thread: 't', run: () => finish.opened.then(() => 'unharmed') })
  return async () => {
    expect(await runtime.get(task.id)).toMatchObject({ status: 'running' })
    finish.open()
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: 'unharmed' })
  }
}

/** What became of tasks with these bodies, one after the other, while another task went on. */
async function fates(world: World, bodies: readonly AgentFunction[]): Promise<unknown[]> {
  const runtime = await world.open()
  const isUnharmed = await bystander(runtime)
  const outcomes: unknown[] = []
  for (const run of bodies) {
    const task = await runtime.spawn({ thread: 't', run })
    const events = await eventsOf(runtime, 't', task.id)
    expect(events.filter(({ type }) => /^task\.(completed|failed|cancelled)$/.test(type))).toHaveLength(1)
    const { status, error } = (await runtime.get(task.id)) ?? {}
    outcomes.push({ status, error })
  }
  await isUnharmed()
  return outcomes
}

/** The runner counts every rejection that nobody handles as an error of its own; here the runtime is to claim them. */
function leaveRejectionsToTheRuntime(): void {
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  onTestFinished(() => {
    for (const listener of listeners) process.on('unhandledRejection', listener)
  })
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const thrown: Readonly<Record<string, { value: unknown; says: RegExp }>> = {
  'an error': { value: new RangeError('out of range'), says: /^out of range$/ },
  'an error without a message': { value: new TypeError(), says: /^TypeError$/ },
  null: { value: null, says: /null/ },
  undefined: { value: undefined, says: /undefined/ },
  'a string': { value: 'just text', says: /^just text$/ },
  'an object': { value: { reason: 'quota' }, says: /quota/ },
  'a cycle': { value: cycle, says: /object/ },
  'a symbol': { value: Symbol('mark'), says: /mark/ },
  'a function': { value: () => 1, says: /./ },
  'an error with a getter that throws': {
    value: Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('hostile')
      },
    }),
    says: /./,
  },
  'an error whose message is no text': { value: Object.assign(new Error(), { message: { a: 1 } }), says: /./ },
  'a revoked proxy': { value: revoked(), says: /./ },
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a body that throws anything, at once or later, fails its own task and nothing else', async () => {
    const cases = Object.entries(thrown)
    const sync = cases.map(([, { value }]) => () => {
      throw value
    })
    const rejecting = cases.map(([, { value }]) => async () => {
      throw value
    })
    for (const bodies of [sync, rejecting]) {
      const outcomes = await fates(world(), bodies)
      for (const [index, [what, { says }]] of cases.entries()) {
        const message = expect.stringMatching(says)
        expect([what, outcomes[index]]).toEqual([what, { status: 'failed', error: { code: 'agent_error', message } }])
      }
    }
  })

  it('a rejection that nobody handles fails the task it comes from and nothing else', async () => {
    leaveRejectionsToTheRuntime()
    const astray = (reason: unknown) => async (ctx: AgentContext) => {
      void Promise.reject(reason)
      await untilStopped(ctx)
    }
    const outcomes = await fates(world(), [new Error('astray'), null, 'astray'].map(astray))
    const failedWith = (message: string) => ({ status: 'failed', error: { code: 'agent_error', message } })
    expect(outcomes).toEqual([failedWith('astray'), failedWith('The agent threw null'), failedWith('astray')])
  })

  it('a rejection that comes astray after the task has ended harms nobody', async () => {
    leaveRejectionsToTheRuntime()
    const runtime = await world().open()
    const isUnharmed = await bystander(runtime)
    const goAstray = gate()
    const task = await runtime.spawn({
      thread: 't',
      run: () => {
        void goAstray.opened.then(() => Promise.reject(new Error('too late')))
        return 'done'
      },
    })
    await runtime.wait(task.id)
    goAstray.open()
    await isUnharmed()
    expect(await runtime.get(task.id)).toMatchObject({ status: 'completed', result: 'done' })
  })

  it('an error text of any length fits an event', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: () => Promise.reject(new Error('é'.repeat(1 << 20))) })
    const last = (await eventsOf(runtime, 't', task.id)).at(-1)
    expect(last?.type).toBe('task.failed')
    expect(Buffer.byteLength(JSON.stringify(last?.data))).toBeLessThanOrEqual(256 * 1024)
    const { error } = (await runtime.get(task.id)) ?? {}
    expect(error?.message).toMatch(/^é+/)
    expect(last?.data).toEqual({ error })
  })

  it('LIFE-17 a result that cannot be serialised ends the task as failed with a clear error', async () => {
    const results = [cycle, { count: 1n }, () => 1, Symbol('mark'), { toJSON: () => cycle }]
    const outcomes = await fates(
      world(),
      results.map((result) => () => result),
    )
    const message = expect.stringMatching(/^The result .*JSON/)
    expect(outcomes).toEqual(results.map(() => ({ status: 'failed', error: { code: 'not_serialisable', message } })))
  })

  it('a result of more than 8 MiB ends the task as failed', async () => {
    const outcomes = await fates(world(), [() => 'x'.repeat(8 * 1024 * 1024)])
    expect(outcomes).toMatchObject([{ status: 'failed', error: { code: 'too_large' } }])
  })

  it('an emit of what cannot be stored is refused to the agent, which may go on', async () => {
    const runtime = await world().open()
    const payloads = [cycle, { count: 1n }, () => 1, Symbol('mark'), 'x'.repeat(256 * 1024)]
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        const emits = payloads.flatMap((payload) => [() => ctx.emit('made', payload), () => ctx.answer(payload)])
        const codes = await Promise.all(emits.map(refusalOf))
        await ctx.emit('after')
        return codes
      },
    })
    const codes = [...Array<string>(8).fill('not_serialisable'), 'too_large', 'too_large']
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: codes })
    const emitted = (await logOf(runtime, 't')).filter(({ type }) => type === 'custom' || type === 'answer')
    expect(emitted.map(({ data }) => data)).toEqual([{ name: 'after' }])
  })

  it('a refused emit that the agent does not catch fails the task with that code', async () => {
    const outcomes = await fates(world(), [(ctx) => ctx.emit('made', 1n)])
    expect(outcomes).toMatchObject([{ status: 'failed', error: { code: 'not_serialisable' } }])
  })

  it('a task that fails in several ways at once ends once', async () => {
    leaveRejectionsToTheRuntime()
    const runtime = await world().open()
    const task = await runtime.spawn({
      thread: 't',
      run: async () => {
        for (let i = 0; i < 5; i += 1) void Promise.reject(new Error(`astray ${i}`))
        throw new Error('and thrown')
      },
    })
    const ended = await runtime.wait(task.id)
    expect(ended && isTerminal(ended.status)).toBe(true)
    const terminal = (await logOf(runtime, 't')).filter(({ type }) => type === 'task.failed')
    expect(terminal).toHaveLength(1)
  })
})

async function refusalOf(emit: () => Promise<void>): Promise<unknown> {
  try {
    await emit()
    return 'emitted'
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}
