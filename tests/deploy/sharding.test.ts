import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { principalOf, type TaskId, type ThreadKey, threadOf } from '../../src/core/id.ts'
import type { Unit, Verdict } from '../../src/core/unit.ts'
import { createRuntime, type Runtime, scriptAgent } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import type { Store } from '../../src/stores/store.ts'

/** A batch as it was committed: what of it was, when, and what it was answered. */
interface Recorded {
  readonly at: number
  readonly units: readonly Unit[]
  readonly verdicts: readonly Verdict[]
}

/** A store that writes down what is committed to it. */
function recording(store: Store, record: (recorded: Recorded) => void): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'commit') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      return async (units: readonly Unit[]) => {
        const verdicts = await target.commit(units)
        const isIn = (_: unknown, index: number) => verdicts[index]?.committed === true
        const [committed, answered] = [units.filter(isIn), verdicts.filter(isIn)]
        const at = answered.reduce((latest, verdict) => (verdict.committed ? Math.max(latest, verdict.at) : latest), 0)
        if (committed.length > 0) record({ at, units: committed, verdicts: answered })
        return verdicts
      }
    },
  })
}

const threadsPerPrincipal = 16
const principals = ['ann', 'bob', 'cyd']

/** Everything that runtimes do to threads: queues, children, messages, questions, steps, cancels, collects. */
async function work(runtime: Runtime): Promise<void> {
  const child = { script: [{ step: 'dig' }, { say: 'found' }] }
  const script = [
    { say: 'hello' },
    { step: 'first', value: 1 },
    { spawn: { ...child, name: 'helper', wait: true } },
    { spawn: { ...child, detached: true } },
    { receive: { timeoutMs: 60_000 } },
    { ask: { text: 'Go on?' } },
    { say: 'done' },
  ]
  for (let n = 0; n < threadsPerPrincipal; n++) {
    const thread = `t${n}`
    const first = await runtime.run({ thread, agent: 'script', input: { script }, idempotencyKey: `k${n}` })
    const second = await runtime.run({ thread, agent: 'script', prompt: 'next' })
    await runtime.send(first.id, { content: 'word' })
    if (n % 4 === 3) await runtime.cancelThread(thread)
    else {
      for await (const event of runtime.subscribe({ thread })) if (event.type === 'question.asked') break
      for (const question of await runtime.questions({ thread })) await runtime.answer(question.id, 'yes')
    }
    await Promise.all([runtime.wait(first.id), runtime.wait(second.id)])
    if (n % 2 === 0) await runtime.collect(thread, await untaken(runtime, thread))
  }
}

async function untaken(runtime: Runtime, thread: string): Promise<readonly string[]> {
  const { results } = await runtime.results(thread)
  return results.map((result) => result.task)
}

async function recordedLoad(): Promise<readonly Recorded[]> {
  const all: Recorded[] = []
  const runtime = createRuntime({
    store: recording(memoryStore(), (each) => all.push(each)),
    agents: { script: scriptAgent() },
  })
  await Promise.all(principals.map((name) => work(runtime.as(name))))
  await runtime.close()
  return all
}

/** All tasks that a unit names. */
function tasksNamed(unit: Unit): readonly TaskId[] {
  const { tasks = [], mail = [], steps = [], hooks = [], questions = [], messages = [], take = [], forget = [] } = unit
  const parents = tasks.flatMap(({ record }) => record.parent?.task ?? [])
  const ended = mail.flatMap((each) => each.ended ?? [])
  const rest = [...mail, ...steps, ...hooks, ...messages].flatMap(({ task }) => task ?? [])
  const own = tasks.map(({ record }) => record.id)
  const asked = questions.map(({ record }) => record.task)
  const single = [unit.fence, unit.key].flatMap((each) => each?.task ?? [])
  return [...own, ...parents, ...rest, ...ended, ...asked, ...take, ...forget, ...single]
}

class Replay {
  readonly #stores: readonly Store[]
  #now = 0

  constructor(count: number) {
    this.#stores = Array.from({ length: count }, () => memoryStore({ clock: { now: () => this.#now } }))
  }

  /** By a hash of principal and thread, as a router would. */
  of(key: ThreadKey): Store {
    const [store] = this.#stores.slice(createHash('sha256').update(key).digest().readUInt32BE() % this.#stores.length)
    if (!store) throw new Error('There is no store')
    return store
  }

  async all(recorded: readonly Recorded[]): Promise<void> {
    for (const store of this.#stores) await store.open()
    for (const { at, units, verdicts } of recorded) {
      this.#now = at
      for (const store of this.#stores) {
        const isHere = (_: unknown, index: number) => this.of(units[index]?.thread ?? ('' as ThreadKey)) === store
        expect(await store.commit(units.filter(isHere))).toEqual(verdicts.filter(isHere))
      }
    }
  }

  /** All that there is to read of a thread. */
  async picture(key: ThreadKey): Promise<unknown> {
    const store = this.of(key)
    const query = { principal: principalOf(key), thread: threadOf(key), limit: 1_000 }
    const { tasks } = await store.tasks(query)
    return {
      tasks,
      log: await store.events(key, { after: 0, limit: 100_000 }),
      messages: await store.messages(key, { limit: 1_000 }),
      live: await store.livePart(key),
      untaken: await store.tasks({ ...query, untaken: true }),
      questions: await store.questions(query),
      steps: await Promise.all(tasks.map((task) => store.steps(task.id))),
    }
  }
}

describe('threads over several databases', () => {
  const load = recordedLoad()

  it('no unit of a load names a task of another thread', async () => {
    const threadOfTask = new Map<TaskId, ThreadKey>()
    const units = (await load).flatMap((each) => each.units)
    for (const unit of units) {
      for (const { record } of unit.tasks ?? []) threadOfTask.set(record.id, record.key)
    }
    const threads = new Set(units.map((unit) => unit.thread))
    expect(threads.size).toBe(principals.length * threadsPerPrincipal)
    expect(units.length).toBeGreaterThan(300)
    for (const unit of units) {
      for (const id of tasksNamed(unit)) expect(threadOfTask.get(id)).toBe(unit.thread)
    }
  })

  it.each([2, 3, 8])(
    'a load that is routed to %i databases by a hash of the thread leaves what one would hold',
    async (count) => {
      const recorded = await load
      const [one, several] = [new Replay(1), new Replay(count)]
      await one.all(recorded)
      await several.all(recorded)
      const threads = [...new Set(recorded.flatMap(({ units }) => units.map((unit) => unit.thread)))]
      expect(new Set(threads.map((key) => several.of(key))).size).toBe(count)
      for (const key of threads) expect(await several.picture(key)).toEqual(await one.picture(key))
    },
  )
})
