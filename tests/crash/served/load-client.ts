import { isTerminal, type Question, type Task } from '../../../src/index.ts'
import type { Transport } from '../../server/harness/client.ts'
import type { Results, Snapshot } from '../../server/harness/reads.ts'
import { Refused } from '../../server/harness/refused.ts'
import { digestOf } from '../journal.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { followTask } from './follow.ts'
import { makeEndlessScript, makeScript } from './script-program.ts'
import { pause, type ServedWorld } from './served-world.ts'
import { type Asking, Unanswered, WireClient } from './wire-client.ts'

const weights = {
  run: 8,
  spawn: 5,
  steer: 4,
  cancelOne: 20,
  cancelThread: 1,
  send: 12,
  answer: 20,
  collect: 4,
  read: 2,
} as const

// So many of its own tasks a client leaves alone before it waits for one.
const ownMax = 5
// About as long as a script takes, so that a cancel comes before, during and after it.
const cancelMsMax = 60

/** A client that asks for this and that over one transport, and writes down each answer. */
export class LoadClient {
  readonly #world: ServedWorld
  readonly #random: SeededRandom
  readonly #name: string
  readonly #transport: Transport
  readonly #wire: WireClient
  /** Accepted for this client, and not yet waited for. */
  readonly #own: Task[] = []
  /** The last one that was left to end by itself. */
  #latest: Task | undefined
  #askCount = 0

  constructor(world: ServedWorld, random: SeededRandom, name: string, transport: Transport, isBreaking: boolean) {
    this.#world = world
    this.#random = random
    this.#name = name
    this.#transport = transport
    this.#wire = new WireClient(world, transport, isBreaking)
  }

  /** Goes on until there is to be no more load, and has then got an answer to all that it will ask again. */
  async run(): Promise<void> {
    while (this.#world.isLoading) {
      await this.#world.up()
      await this.#guard(() => this.#act(this.#random.weighted(weights)))
      if (this.#own.length > ownMax) await this.#waitForOne()
    }
    while (this.#own.length > 0) await this.#waitForOne()
    this.#wire.drop()
  }

  /** What was not answered is not known; a refusal is written down. */
  async #guard(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (error instanceof Refused) this.#refused(error)
      else if (!(error instanceof Unanswered)) throw error
    }
  }

  #refused({ code, status, problem }: Refused): void {
    // Who sends to a task, spawns under it, or answers it may come too late.
    if (code === 'task_terminated' || code === 'already_answered') return
    if (status >= 500) this.#world.broken(`a request was answered with ${JSON.stringify(problem)}`)
    this.#world.journal({ kind: 'refused', call: this.#name, code })
  }

  #act(act: keyof typeof weights): Promise<void> {
    const thread = this.#random.pick(this.#world.threads) ?? ''
    switch (act) {
      case 'run':
        return this.#run(thread)
      case 'spawn':
        return this.#spawn(thread)
      case 'steer':
        return this.#steer(thread)
      case 'cancelOne':
        return this.#cancelOne(thread)
      case 'cancelThread':
        return this.#cancelThread(thread)
      case 'send':
        return this.#send()
      case 'answer':
        return this.#answer()
      case 'collect':
        return this.#collect(thread)
      case 'read':
        return this.#read(thread)
    }
  }

  async #run(thread: string): Promise<void> {
    const onBusy = this.#random.weighted({ queue: 8, interrupt: 1, reject: 1 })
    const onResult = this.#random.chance(0.2) ? 'wake' : 'collect'
    this.#leave(await this.#accept({ route: 'runs', thread, body: { ...this.#work(), onBusy, onResult } }))
  }

  async #spawn(thread: string): Promise<void> {
    const parent = this.#random.chance(0.3) ? this.#random.pick(this.#own) : undefined
    const lineage = parent && { parent: parent.id, detached: this.#random.chance(0.5) }
    const body = { ...this.#work(), ...lineage }
    this.#leave(await this.#accept({ route: 'tasks', thread: parent?.thread ?? thread, body }))
  }

  /** Sent once: what became of it is told by its message, so it needs no key. */
  async #steer(thread: string): Promise<void> {
    const body = { agent: 'script', prompt: `steer ${this.#random.below(1000)}`, onBusy: 'steer' }
    const task = await this.#wire.accept({ route: 'runs', thread, body })
    const steered = task.steered === undefined ? {} : { steered: task.steered }
    this.#world.journal({ kind: 'accepted', task: task.id, thread, ...steered })
  }

  /** Accepts a task and cancels it a moment later. The moment decides what that finds. */
  async #cancelOne(thread: string): Promise<void> {
    const route = this.#random.chance(0.5) ? 'runs' : 'tasks'
    const task = await this.#accept({ route, thread, body: this.#work(makeEndlessScript) })
    if (this.#random.chance(0.7)) await pause(this.#random.below(cancelMsMax))
    const cancelled = await this.#untilAnswered(() => this.#wire.cancel(thread, { task: task.id }))
    this.#world.journal({ kind: 'cancelled', tasks: cancelled })
    // Only somebody else's cancel can have come first, or the crashes that it caused.
    if (!cancelled.includes(task.id)) {
      const { status } = await this.#untilAnswered(() => this.#wire.get<Task>(`/v1/tasks/${task.id}`))
      if (!isTerminal(status)) this.#world.broken(`${task.id} is ${status}, and its cancel took nothing`)
    }
    this.#own.push(task)
  }

  async #cancelThread(thread: string): Promise<void> {
    const scope = this.#random.chance(0.5) ? 'runs' : 'all'
    this.#world.journal({ kind: 'cancelled', tasks: await this.#wire.cancel(thread, { scope }) })
  }

  async #send(): Promise<void> {
    const task = this.#latest
    if (!task) return
    const content = { token: this.#random.next() }
    const id = await this.#wire.send(task.thread, task.id, content)
    this.#world.journal({ kind: 'sent', task: task.id, id, token: digestOf(content) })
  }

  async #answer(): Promise<void> {
    const { questions } = await this.#wire.get<{ questions: Question[] }>('/v1/questions')
    const question = this.#random.pick(questions)
    if (!question) return
    const { id, thread, answer } = await this.#wire.answer(question.id, this.#random.next())
    this.#world.journal({ kind: 'settled', thread, question: id, answer: digestOf(answer) })
  }

  async #collect(thread: string): Promise<void> {
    const path = `/v1/threads/${thread}/results`
    const tasks = (await this.#wire.get<Results>(path)).results.slice(0, 3).map(({ task }) => task)
    this.#world.journal({ kind: 'collecting', tasks })
    const { collected } = await this.#wire.post<{ collected: string[] }>(`${path}/collect`, { tasks })
    this.#world.journal({ kind: 'collected', thread, tasks: collected })
  }

  async #read(thread: string): Promise<void> {
    const { head, messages } = await this.#wire.get<Snapshot>(`/v1/threads/${thread}`)
    const last = messages.slice(-4).map((message) => [message.id, digestOf(message)] as const)
    this.#world.journal({ kind: 'read', thread, head, messages: last })
  }

  #leave(task: Task): void {
    this.#own.push(task)
    this.#latest = task
  }

  async #waitForOne(): Promise<void> {
    const task = this.#own.shift()
    if (!task) return
    const { id, thread } = task
    const events = await followTask(this.#world, { thread, task: id, transport: this.#transport })
    this.#world.journal({ kind: 'watched', thread, task: id, after: 0, seqs: events.map(({ seq }) => seq) })
    const ended = await this.#untilAnswered(() => this.#wire.get<Task>(`/v1/tasks/${id}`))
    if (!isTerminal(ended.status)) this.#world.broken(`the stream of ${id} ended, and it is ${ended.status}`)
    this.#world.journal({ kind: 'ended', task: id, status: ended.status, digest: digestOf(ended) })
  }

  /** Under a key, and again until it is answered. */
  async #accept(asking: Asking): Promise<Task> {
    this.#askCount += 1
    const key = `${this.#name}.${this.#askCount}`
    const body = { ...asking.body, metadata: { key } }
    const task = await this.#untilAnswered(() => this.#wire.accept({ ...asking, body, key }))
    const { id, thread, interrupted } = task
    this.#world.journal({ kind: 'accepted', task: id, thread, key, ...(interrupted && { interrupted }) })
    return task
  }

  async #untilAnswered<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      await this.#world.up()
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        this.#world.counts.repeated += 1
      }
    }
  }

  #work(make = makeScript) {
    return { agent: 'script', input: { script: make(this.#random, this.#world.ledger.url) } }
  }
}
