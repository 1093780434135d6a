import type { SeededRandom } from '../../src/chaos/seeded-random.ts'
import { isHoldfastError, type OnBusy, type Runtime, type Task } from '../../src/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { type Asking, digestOf, type Journal } from './journal.ts'
import { closure } from './load-agents.ts'
import { liveTasks, writeEnd } from './witness.ts'

export interface LoadParts {
  readonly runtime: Runtime
  readonly random: SeededRandom
  readonly threads: readonly string[]
  /** Marks the keys of this life. */
  readonly life: string
  readonly journal: Journal
}

const weights = {
  run: 30,
  spawn: 16,
  send: 24,
  answer: 32,
  cancelTask: 3,
  cancelTree: 3,
  cancelThread: 2,
  collect: 6,
  read: 6,
  watch: 4,
} as const

type Call = keyof typeof weights

// Enough that commits always overlap with new requests, few enough that what is left over drains in a moment.
const clientCount = 6
const liveMax = 24
const pauseMs = 20
// So few that names are often taken.
const nameCount = 4

/** Clients of one runtime that ask for this and that, and write down each answer. */
export class Load {
  readonly #parts: LoadParts
  /** Tasks that somebody here waits for. */
  readonly #live = new Map<string, string>()
  #askCount = 0

  constructor(parts: LoadParts) {
    this.#parts = parts
  }

  /** Sends keyed requests again, whether or not they were answered, and then goes on until the process ends. */
  async run(askings: readonly Asking[]): Promise<never> {
    for (const task of await liveTasks(this.#parts.runtime)) this.#follow(task)
    await Promise.all(askings.map((asking) => this.#guard(asking.call, () => this.#ask(asking))))
    await Promise.all(Array.from({ length: clientCount }, () => this.#client()))
    throw new Error('a client of the load came to an end')
  }

  async #client(): Promise<void> {
    for (;;) {
      const isCrowded = this.#live.size >= liveMax
      const call = this.#parts.random.weighted(isCrowded ? { ...weights, run: 0, spawn: 0 } : weights)
      await this.#guard(call, () => this.#call(call))
    }
  }

  /** A refusal is an answer too; anything else that is thrown ends the process, and the harness tells. */
  async #guard(call: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!isHoldfastError(error)) throw error
      const isReady = await this.#parts.runtime.isReady()
      this.#parts.journal({ kind: 'refused', call, code: error.code, isReady })
      if (error.code === 'store_unavailable' || error.code === 'draining') await paused()
    }
  }

  #call(call: Call): Promise<void> {
    const { random, runtime } = this.#parts
    const thread = random.pick(this.#parts.threads) ?? ''
    switch (call) {
      case 'run':
        return this.#run(thread)
      case 'spawn':
        return this.#spawn(thread)
      case 'send':
        return this.#send()
      case 'answer':
        return this.#answer()
      case 'cancelTask':
        return this.#cancel((task) => runtime.cancel(task))
      case 'cancelTree':
        return this.#cancel(async (task) => (await runtime.cancelTree(task)) > 0)
      case 'cancelThread':
        return this.#cancelThread(thread)
      case 'collect':
        return this.#collect(thread)
      case 'read':
        return this.#read(thread)
      case 'watch':
        return this.#watch()
    }
  }

  async #run(thread: string): Promise<void> {
    const { random } = this.#parts
    const onBusy: OnBusy = random.weighted({ queue: 6, steer: 3, interrupt: 1, reject: 1 })
    const prompt = JSON.stringify(this.#assignment())
    const onResult = random.chance(0.3) ? 'wake' : 'collect'
    const options = { thread, agent: this.#agent(), prompt, onBusy, onResult } as const
    // What a steering prompt becomes is told by its message, so it needs no key.
    if (onBusy !== 'steer' && random.chance(0.5)) return this.#ask(this.#asking('run', options))
    const task = await this.#parts.runtime.run(options)
    const { steered, interrupted } = task
    this.#parts.journal({
      kind: 'accepted',
      task: task.id,
      thread,
      ...(steered !== undefined && { steered }),
      ...(interrupted && { interrupted }),
    })
    this.#follow(task)
  }

  async #spawn(thread: string): Promise<void> {
    const { random, runtime } = this.#parts
    const which = random.weighted({ keyed: 5, plain: 2, named: 1, stubborn: 1, closure: 1 })
    const options = { thread, agent: this.#agent(), input: this.#assignment() }
    if (which === 'keyed') return this.#ask(this.#asking('spawn', options))
    if (which === 'plain') return this.#accepted(await runtime.spawn(options))
    if (which === 'named') {
      const name = `name${random.below(nameCount)}`
      return this.#accepted(await runtime.spawn({ ...options, name }))
    }
    if (which === 'closure') return this.#accepted(await runtime.spawn({ thread, run: closure }))
    const timeoutMs = 20 + random.below(300)
    return this.#accepted(await runtime.spawn({ thread, agent: 'stubborn', timeoutMs, type: 'watchdog' }))
  }

  async #ask(asking: Asking): Promise<void> {
    const { runtime } = this.#parts
    const { call, key } = asking
    this.#parts.journal({ kind: 'asking', asking })
    const options = { ...asking.options, idempotencyKey: key }
    const task = await (call === 'run' ? runtime.run(options as never) : runtime.spawn(options))
    const interrupted = 'interrupted' in task ? { interrupted: task.interrupted as string[] } : {}
    this.#parts.journal({ kind: 'accepted', task: task.id, thread: task.thread, key, ...interrupted })
    this.#follow(task)
  }

  #asking(call: Asking['call'], options: Record<string, unknown>): Asking {
    this.#askCount += 1
    const key = `${this.#parts.life}.${this.#askCount}`
    return { key, call, options: { ...options, metadata: { key } } }
  }

  #accepted(task: Task): void {
    this.#parts.journal({ kind: 'accepted', task: task.id, thread: task.thread })
    this.#follow(task)
  }

  async #send(): Promise<void> {
    const task = this.#someTask()
    if (task === undefined) return
    const content = { token: this.#parts.random.next() }
    const answer = await this.#parts.runtime.send(task, { content, from: 'load' })
    if (answer.isSent) this.#parts.journal({ kind: 'sent', task, id: answer.id, token: digestOf(content) })
  }

  /** Others answer as well, questions expire, and tasks end: who comes too late is told so. */
  async #answer(): Promise<void> {
    const { random, runtime } = this.#parts
    const question = random.pick(await runtime.questions())
    if (!question) return
    const token = random.next()
    try {
      const { thread, answer } = await runtime.answer(question.id, token)
      this.#parts.journal({ kind: 'settled', thread, question: question.id, answer: digestOf(answer) })
    } catch (error) {
      if (!isHoldfastError(error, 'already_answered') && !isHoldfastError(error, 'task_terminated')) throw error
    }
  }

  async #cancel(cancel: (task: string) => Promise<boolean>): Promise<void> {
    const task = this.#someTask()
    if (task !== undefined && (await cancel(task))) this.#parts.journal({ kind: 'cancelled', tasks: [task] })
  }

  async #cancelThread(thread: string): Promise<void> {
    const scope = this.#parts.random.chance(0.5) ? 'runs' : 'all'
    const tasks = await this.#parts.runtime.cancelThread(thread, { scope, reason: 'the load says so' })
    this.#parts.journal({ kind: 'cancelled', tasks })
  }

  async #collect(thread: string): Promise<void> {
    const { results } = await this.#parts.runtime.results(thread)
    const asked = results.slice(0, 3).map((result) => result.task)
    this.#parts.journal({ kind: 'collecting', tasks: asked })
    const tasks = await this.#parts.runtime.collect(thread, asked)
    this.#parts.journal({ kind: 'collected', thread, tasks })
  }

  async #read(thread: string): Promise<void> {
    const { head, messages } = await this.#parts.runtime.thread(thread)
    const last = messages.slice(-4).map((message) => [message.id, digestOf(message)] as const)
    this.#parts.journal({ kind: 'read', thread, head, messages: last })
  }

  /** Watches one task to its end, besides what the caller goes on to do. */
  async #watch(): Promise<void> {
    const task = this.#someTask()
    const thread = task === undefined ? undefined : this.#live.get(task)
    if (task === undefined || thread === undefined) return
    void this.#guard('watch', async () => {
      const seqs: number[] = []
      for await (const event of this.#parts.runtime.subscribe({ thread, task })) seqs.push(event.seq)
      // A runtime that closes ends its subscriptions before their time.
      if (!(await this.#parts.runtime.isReady())) return
      this.#parts.journal({ kind: 'watched', thread, task, after: 0, seqs })
    })
  }

  #follow(task: Task): void {
    if (this.#live.has(task.id)) return
    this.#live.set(task.id, task.thread)
    void this.#guard('wait', async () => {
      await writeEnd(this.#parts, task.id)
      this.#live.delete(task.id)
    })
  }

  #someTask(): string | undefined {
    return this.#parts.random.pick([...this.#live.keys()])
  }

  #assignment() {
    const { random } = this.#parts
    return { seed: random.below(2 ** 31), depth: random.below(3) }
  }

  #agent(): string {
    return this.#parts.random.chance(0.9) ? 'mixed' : 'fragile'
  }
}

function paused(): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(pauseMs, resolve))
}
