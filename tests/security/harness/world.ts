import type { Event } from '../../../src/core/event.ts'
import type { Runtime } from '../../../src/index.ts'

/** What stands in everything that alice has said, asked and been answered. */
export const marker = 'for-the-eyes-of-alice'

/** A thread id that alice and bob use both, and one that only bob does. */
export const shared = 'shared'
export const control = 'control'

/** The key under which alice had a run accepted. */
export const idempotencyKey = 'the-key-of-alice'

/** Ids of one principal, as routes and frames are asked for them. */
export interface Names {
  readonly thread: string
  readonly task: string
  readonly question: string
  readonly tasksCursor: string
  readonly threadsCursor: string
}

export interface World {
  /** One for each task of alice: live, ended, a child, one with a result that nobody took. */
  readonly alices: readonly Names[]
  /** All ids that must not be seen by anybody else. */
  readonly ids: readonly string[]
  /** Everything that alice can read, as one text. */
  all(): Promise<string>
  /** Ends what alice watches. */
  leave(): void
}

/** Alice has something of everything; bob has ended tasks in the thread that both use, and in one of his own. */
export async function populate(runtime: Runtime): Promise<World> {
  const alice = runtime.as('alice')
  const bob = runtime.as('bob')
  const ended = await alice.run({ thread: shared, agent: 'echo', prompt: marker, idempotencyKey })
  await alice.wait(ended.id)
  const asking = [{ say: marker }, { spawn: { script: [{ receive: {} }], name: 'child' } }, { ask: { text: marker } }]
  const live = await alice.run({ thread: shared, agent: 'script', input: { script: asking }, description: marker })
  const asked = await firstOf(alice, (event) => event.type === 'question.asked')
  const question = asked.type === 'question.asked' ? asked.data.question.id : ''
  const finished = await alice.spawn({ thread: shared, agent: 'script', input: { script: [{ return: marker }] } })
  await alice.wait(finished.id)
  await alice.wait((await alice.run({ thread: 'of-alice', agent: 'echo', prompt: marker })).id)
  for (const thread of [shared, control]) await haveEnded(bob, thread)
  const { tasks } = await alice.list({ limit: 100 })
  const threadsCursor = (await alice.threads({ limit: 1 })).cursor ?? ''
  const tasksCursor = (await alice.list({ limit: 1 })).cursor ?? ''
  const watching = alice.subscribe({ thread: shared })
  await watching.next()
  return {
    alices: tasks.map(({ id: task }) => ({ thread: shared, task, question, tasksCursor, threadsCursor })),
    ids: [...tasks.map(({ id }) => id), question, live.id],
    all: () => everything(alice),
    leave: () => void watching.return?.(),
  }
}

async function haveEnded(runtime: Runtime, thread: string): Promise<void> {
  await runtime.wait((await runtime.run({ thread, agent: 'echo', prompt: 'of bob' })).id)
  await runtime.wait((await runtime.spawn({ thread, agent: 'script', input: { script: [{ return: 1 }] } })).id)
}

async function firstOf(runtime: Runtime, isWanted: (event: Event) => boolean): Promise<Event> {
  for await (const event of runtime.subscribe({ thread: shared })) if (isWanted(event)) return event
  throw new Error('The log ended before that came')
}

async function everything(alice: Runtime): Promise<string> {
  const { watchers: _watchers, ...snapshot } = await alice.thread(shared)
  const { entries } = await alice.logPage(shared, { limit: 1000 })
  const read = await Promise.all([
    alice.list({ limit: 1000 }),
    alice.threads(),
    alice.messages(shared),
    alice.results(shared),
    alice.questions(),
    alice.thread('of-alice'),
  ])
  return JSON.stringify([snapshot, entries.map(({ text }) => text), read])
}
