import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import { type AgentContext, scriptAgent } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { crashEverywhere, crashEverywhereTwice, crashTestMs, type Story } from './crash-everywhere.ts'
import type { Executions } from './resume-invariants.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

// Which world's agent is running: several stories are told at a time.
const running = new AsyncLocalStorage<Executions>()

/** The network: a POST is answered at once, and noted as an execution of the step it names, which is called by its path. */
async function fakeFetch(_url: string, init: { body: string }): Promise<Response> {
  const { task, key, attempt } = JSON.parse(init.body) as { task: string; key: string; attempt: number }
  running.getStore()?.note({ taskId: task, attempt }, key)
  return new Response()
}

beforeEach(() => {
  vi.stubGlobal('fetch', fakeFetch)
})

afterEach(() => {
  vi.unstubAllGlobals()
})

async function sendOnce(runtime: Runtime, task: string, content: string): Promise<void> {
  const log = await logOf(runtime, 't')
  const isThere = log.some((event) => event.type === 'inbox.accepted' && event.data.content === content)
  if (!isThere) await runtime.send(task, { content })
}

function untilCustom(runtime: Runtime, name: string) {
  return eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom' && event.data.name === name)
}

const { run } = scriptAgent({ allowEffects: true })
const effect = 'http://127.0.0.1/'

function story(script: readonly unknown[], clients?: Story['clients']): Story {
  const askOnce: Story['clients'] = async (runtime) => {
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script }, idempotencyKey: 'go' })
    await runtime.wait(id)
  }
  return {
    agents: (executions) => ({
      script: (ctx: AgentContext, input: unknown) => running.run(executions, () => run(ctx, input as never)),
    }),
    clients: clients ?? askOnce,
  }
}

const talking = story([
  { say: 'one ' },
  { think: 'hm' },
  { step: 'op-2', effect, value: 1 },
  { progress: 0.25 },
  { emit: 'tick', payload: { a: 1 }, times: 3, everyMs: 10 },
  { tool: 'look', input: { a: 1 }, output: { b: 2 }, ms: 15 },
  { sleepMs: 20 },
  { step: 'op-7', effect, sleepMs: 10 },
  { blockMs: 1 },
  { emit: 'burst', times: 3 },
  { say: 'two' },
])

const spawning = story([
  { say: 'begin ' },
  {
    spawn: {
      script: [{ say: 'kid ' }, { sleepMs: 10 }, { step: 'op-2', effect }, { return: [1] }],
      name: 'kid',
      wait: true,
    },
  },
  { spawn: { script: [{ say: 'bad ' }, { fail: 'bad luck' }], name: 'bad', wait: true } },
  { spawn: { script: [{ hang: true }], name: 'hanging' } },
  { step: 'op-4', effect, sleepMs: 5 },
  { answer: 'nearly' },
  { say: 'end' },
  { answer: { is: 'it' } },
])

const reading = story([], async (runtime) => {
  const script = [{ receive: {} }, { say: 'got it ' }, { receive: { timeoutMs: 20 } }, { receive: { timeoutMs: 500 } }]
  const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script }, idempotencyKey: 'go' })
  await sendOnce(runtime, id, 'first')
  await untilCustom(runtime, 'receive_timeout')
  await sendOnce(runtime, id, 'second')
  await runtime.wait(id)
})

const waking = story([], async (runtime) => {
  const script = [
    { spawn: { script: [{ sleepMs: 30 }, { say: 'late' }], name: 'late', detached: true } },
    { say: 'on' },
  ]
  const input = { script }
  await runtime.run({ thread: 't', agent: 'script', input, onResult: 'wake', idempotencyKey: 'go' })
  const woken = (await untilCustom(runtime, 'woken')).at(-1)?.task
  await runtime.wait(woken ?? '')
})

onEachStore(['memory', 'sqlite'], (kind) => {
  describe('wherever its process dies', () => {
    it.each([
      ['REST-13 a script that talks, sleeps and takes steps', talking],
      ['REST-15 a script that spawns and waits', spawning],
      ['REST-15 a script that reads its inbox', reading],
      ['REST-13 a script that is woken', waking],
    ])('%s comes out as if it had not', (_title, told) => crashEverywhere(kind, told), crashTestMs)

    it(
      'REST-15 a script that reads its inbox comes out as if it had not, when the next process dies as well',
      () => crashEverywhereTwice(kind, reading),
      crashTestMs,
    )
  })
})
