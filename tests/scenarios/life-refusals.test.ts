import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRuntime, type RunOptions, type SpawnOptions } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { untilStopped } from './bodies.ts'
import { onEachStore } from './world.ts'

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle
const mib = 1024 * 1024
const run = untilStopped

const badAsks = {
  'an input with a cycle': [{ input: cycle }, 'not_serialisable'],
  'an input with a BigInt': [{ input: [1n] }, 'not_serialisable'],
  'an input that is a function': [{ input: () => 1 }, 'not_serialisable'],
  'metadata with a cycle': [{ input: 1, metadata: cycle }, 'not_serialisable'],
  'an input of more than 1 MiB': [{ input: 'x'.repeat(mib) }, 'too_large'],
  'a prompt of more than 1 MiB': [{ prompt: '\u{1f600}'.repeat(mib / 4) }, 'too_large'],
  'metadata of more than 1 MiB': [{ input: 1, metadata: { note: 'x'.repeat(mib) } }, 'too_large'],
  'a long description': [{ input: 1, description: 'x'.repeat(1001) }, 'invalid_request'],
  'a prompt and an input': [{ prompt: 'a', input: 1 }, 'invalid_request'],
  'no parts': [{ parts: [] }, 'invalid_request'],
  'a part of no known type': [{ parts: [{ type: 'video' }] }, 'invalid_request'],
  'a timeout of 0': [{ input: 1, timeoutMs: 0 }, 'invalid_request'],
  'a timeout longer than a timer': [{ input: 1, timeoutMs: 2 ** 31 }, 'invalid_request'],
  'an idempotency key with a space': [{ input: 1, idempotencyKey: 'a b' }, 'invalid_request'],
  'an unknown agent': [{ input: 1, agent: 'nobody' }, 'unknown_agent'],
  'an agent named as a property': [{ input: 1, agent: 'constructor' }, 'unknown_agent'],
} as const

const badSpawns = {
  'neither agent nor function': [{ agent: undefined }, 'invalid_request'],
  'both agent and function': [{ run }, 'invalid_request'],
  'the type of a run': [{ type: 'run' }, 'invalid_request'],
  'a long type': [{ type: 'x'.repeat(65) }, 'invalid_request'],
  'a long name': [{ name: 'x'.repeat(65) }, 'invalid_request'],
  'an empty name': [{ name: '' }, 'invalid_request'],
  'a name with a space': [{ name: 'a b' }, 'invalid_request'],
  'a reserved name': [{ name: 'parent' }, 'reserved_name'],
  'a taken name': [{ name: 'taken' }, 'name_taken'],
  'an unknown parent': [{ parent: { task: 'bg_77' } }, 'not_found'],
} as const

const badThreads = ['', ' ', 'a b', 'a/b', '../a', 'x'.repeat(129), 'ä', 'a\n', 'a\u0000']

/** What is in the store, as far as a refused request could have changed it. */
async function picture(runtime: Runtime): Promise<unknown> {
  const { threads } = await runtime.threads()
  return { threads, tasks: (await runtime.list()).tasks, results: await runtime.results('t') }
}

/** Asks for something that must be refused, and sees that nothing at all was written. */
async function refusal(runtime: Runtime, ask: () => Promise<unknown>): Promise<unknown> {
  const before = await picture(runtime)
  const code = await ask().then(
    () => 'accepted',
    (error: unknown) => (error as { code?: unknown }).code,
  )
  expect(await picture(runtime)).toEqual(before)
  return code
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a request that is wrong in itself is refused with its code, and nothing is written', async () => {
    const runtime = await world().open({ agents: { known: untilStopped } })
    await runtime.spawn({ thread: 't', agent: 'known', name: 'taken' })
    for (const [what, [bad, code]] of Object.entries(badAsks)) {
      const options = { thread: 't', agent: 'known', ...bad } as RunOptions
      expect([what, await refusal(runtime, () => runtime.spawn(options))]).toEqual([what, code])
      expect([what, await refusal(runtime, () => runtime.run(options))]).toEqual([what, code])
    }
    for (const [what, [bad, code]] of Object.entries(badSpawns)) {
      const options = { thread: 't', agent: 'known', ...bad } as SpawnOptions
      expect([what, await refusal(runtime, () => runtime.spawn(options))]).toEqual([what, code])
    }
    expect(await refusal(runtime, () => runtime.run({ thread: 't', agent: 'known' }))).toBe('invalid_request')
    expect((await runtime.spawn({ thread: 't', run })).id).toBe('bg_1')
  })

  it('a thread id of any other shape is refused wherever it is named', async () => {
    const runtime = await world().open({ agents: { known: untilStopped } })
    for (const thread of badThreads) {
      const asks = [
        () => runtime.spawn({ thread, run }),
        () => runtime.run({ thread, agent: 'known', prompt: 'go' }),
        () => runtime.thread(thread),
        () => runtime.list({ thread }),
        () => runtime.messages(thread),
        () => runtime.hasRunning(thread),
        () => runtime.cancelAll(thread),
        () => runtime.results(thread),
        () => runtime.collect(thread, ['bg_0']),
        () => runtime.subscribe({ thread }).next(),
      ]
      const codes = await Promise.all(asks.map((ask) => refusal(runtime, ask)))
      expect([thread, codes]).toEqual([thread, asks.map(() => 'invalid_request')])
    }
    expect(await refusal(runtime, () => runtime.spawn({ run }))).toBe('invalid_request')
    expect((await runtime.threads()).threads).toEqual([])
  })

  it('a spawn inside a task is refused in the same way, and the task may go on', async () => {
    const runtime = await world().open()
    const outer = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        const bad: SpawnOptions[] = [
          { run, name: 'self' },
          { agent: 'nobody' },
          { run, input: 1n },
          { run, thread: 'a b' },
        ]
        const codes: unknown[] = []
        for (const options of bad) codes.push(await ctx.spawn(options).catch((error: { code: unknown }) => error.code))
        return codes
      },
    })
    const codes = ['reserved_name', 'unknown_agent', 'not_serialisable', 'invalid_request']
    expect(await runtime.wait(outer.id)).toMatchObject({ status: 'completed', result: codes })
    expect((await runtime.list()).tasks).toHaveLength(1)
  })

  it('a closing runtime refuses new work as draining and writes nothing', async () => {
    const here = world()
    const runtime = await here.open({ agents: { known: untilStopped } })
    const task = await runtime.spawn({ thread: 't', agent: 'known' })
    const closing = runtime.close({ drainMs: 1_000 })
    await here.quiet()
    const asks = [
      () => runtime.spawn({ thread: 't', agent: 'known' }),
      () => runtime.run({ thread: 't', agent: 'known', prompt: 'go' }),
    ]
    for (const ask of asks) expect(await refusal(runtime, ask)).toBe('draining')
    await here.clock.advance(1_000)
    await closing
    for (const ask of asks) await expect(ask()).rejects.toMatchObject({ code: 'draining' })

    const next = await here.open({ agents: { known: untilStopped } })
    expect((await next.list()).tasks.map(({ id }) => id)).toEqual([task.id])
  })
})

describe('without a store', () => {
  it('LIFE-14 spawning with no store configured fails at once with a typed error', async () => {
    const runtime = createRuntime({})
    await expect(runtime.spawn({ thread: 't', run })).rejects.toMatchObject({ code: 'no_store' })
    await expect(runtime.opened()).rejects.toMatchObject({ code: 'no_store' })
    await runtime.close()
  })

  it.each([
    ['papyrus:roll', '"papyrus:roll" is no store'],
    ['sqlite:', '"sqlite:" is no store'],
    ['postgress://me:secret@host/db', '"postgress:…" is no store'],
  ])('no runtime is made on %s, and who makes it is told', (store, message) => {
    const refusal = { code: 'no_store', message: expect.stringContaining(message) }
    expect(() => createRuntime({ store })).toThrow(expect.objectContaining(refusal))
  })
})

describe('sqlite', () => {
  it('LIFE-15 spawning on a store without its schema fails at once with a typed error and leaves no task', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'holdfast.db')
    const spawnOn = async (): Promise<unknown> => {
      const runtime = createRuntime({ store: sqliteStore({ path, migrate: false }) })
      const spawning = runtime.spawn({ thread: 't', run })
      await expect(spawning).rejects.toMatchObject({ code: 'store_schema' })
      return runtime.close()
    }
    await spawnOn()
    expect(existsSync(path)).toBe(false)
    await writeFile(path, '')
    await spawnOn()

    const migrated = createRuntime({ store: sqliteStore({ path }) })
    expect((await migrated.list()).tasks).toEqual([])
    expect((await migrated.threads()).threads).toEqual([])
    await migrated.close()
  })
})
