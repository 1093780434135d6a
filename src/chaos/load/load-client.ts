import { isTerminal } from '../../core/status.ts'
import type { Task } from '../../core/task.ts'
import { digestOf, type Transport, threadName } from '../history/entry.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { type Asker, answerOne, collect, readThread } from './asking.ts'
import { followTask } from './follow.ts'
import { deleteThread, prune } from './forgetting.ts'
import type { Act } from './load-shape.ts'
import { probe } from './probe.ts'
import { makeBriefScript, makeEndlessScript, makePlainScript, makeScript } from './script-program.ts'
import { type Accepted, WireClient, type Work } from './wire-client.ts'
import { Refused, Unanswered } from './wire-error.ts'
import type { World } from './world.ts'

// So many of its own tasks a client leaves alone before it waits for one.
const ownMax = 5
// About as long as a script takes, so that a cancel comes before, during and after it.
const cancelMsMax = 60
const retryMs = 30

/** A client that asks for this and that, and writes down each answer. */
export class LoadClient {
  readonly #world: World
  readonly #random: SeededRandom
  readonly #name: string
  readonly #principal: string
  readonly #transport: Transport
  readonly #wire: WireClient
  /** Accepted for this client, and not yet waited for. */
  readonly #own: Task[] = []
  /** The last one that was left to end by itself. */
  #latest: Task | undefined
  #lastWork: Work | undefined
  readonly #acknowledged = new Set<string>()
  #askCount = 0

  constructor(world: World, random: SeededRandom, name: string, principal: string, transport: Transport) {
    this.#world = world
    this.#random = random
    this.#name = name
    this.#principal = principal
    this.#transport = transport
    this.#wire = new WireClient(world, random, principal, transport === 'ws')
  }

  /** Goes on until there is to be no more load, and has then got an answer to all that it asks again. */
  async run(): Promise<void> {
    while (this.#world.isLoading) {
      const act = this.#random.weighted(this.#world.shape.weights)
      await this.#guard(act, () => this.#act(act))
      if (this.#own.length > ownMax) await this.#waitForOne()
    }
    while (this.#own.length > 0 && !this.#world.isOver) await this.#waitForOne()
    this.#wire.drop()
  }

  /** What was not answered is not known; a refusal is written down. */
  async #guard(op: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (error instanceof Refused) return this.#refused(op, error)
      if (!(error instanceof Unanswered)) throw error
      this.#world.recorder.write({ kind: 'unanswered', by: this.#name, op })
    }
  }

  async #refused(op: string, { problem }: Refused): Promise<void> {
    const { status, code } = problem
    this.#world.recorder.write({ kind: 'refused', by: this.#name, op, status, code })
    if (status === 503) await pause(retryMs)
  }

  #act(act: Act): Promise<void> {
    const thread = this.#random.pick(this.#world.threads[this.#principal] ?? []) ?? ''
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
        return answerOne(this.#asker)
      case 'collect':
        return collect(this.#asker, thread)
      case 'read':
        return readThread(this.#asker, thread)
      case 'repeat':
        return this.#repeat()
      case 'probe':
        return this.#latest ? probe(this.#world, this.#random, this.#principal, this.#latest.id) : Promise.resolve()
      case 'fleeting':
        return this.#fleeting()
      case 'deleteThread':
        return deleteThread(this.#asker)
      case 'prune':
        return prune(this.#asker)
    }
  }

  async #run(thread: string): Promise<void> {
    const onBusy = this.#random.weighted({ queue: 8, interrupt: 1, reject: 1 })
    const onResult = this.#random.chance(0.2) ? 'wake' : 'collect'
    this.#leave(await this.#accept({ route: 'runs', thread, body: { ...this.#work(), onBusy, onResult } }))
  }

  async #spawn(thread: string): Promise<void> {
    // What is in a thread that may be deleted is nobody's parent.
    const isLasting = (task: Task) => this.#world.threads[this.#principal]?.includes(task.thread)
    const parent = this.#random.chance(0.3) ? this.#random.pick(this.#own.filter(isLasting)) : undefined
    const lineage = parent && { parent: parent.id, detached: this.#random.chance(0.5) }
    this.#leave(
      await this.#accept({ route: 'tasks', thread: parent?.thread ?? thread, body: { ...this.#work(), ...lineage } }),
    )
  }

  /** Into a thread that is deleted now and then, and that has no other: there nothing can be left that a step did. */
  async #fleeting(): Promise<void> {
    const thread = this.#random.pick(this.#world.fleeting[this.#principal] ?? [])
    if (thread === undefined) return
    const route = this.#random.chance(0.5) ? 'runs' : 'tasks'
    this.#own.push(await this.#accept({ route, thread, body: this.#work(makePlainScript(this.#random)) }))
  }

  get #asker(): Asker {
    return { world: this.#world, random: this.#random, principal: this.#principal, wire: this.#wire }
  }

  /** Sent once: what became of it is told by its message, so it needs no key. */
  async #steer(thread: string): Promise<void> {
    const body = { agent: 'script', prompt: `steer ${this.#random.next()}`, onBusy: 'steer' }
    this.#written(thread, await this.#wire.accept({ route: 'runs', thread, body }))
  }

  /** Accepts a task and cancels it a moment later. The moment decides what that finds. */
  async #cancelOne(thread: string): Promise<void> {
    const route = this.#random.chance(0.5) ? 'runs' : 'tasks'
    const task = await this.#accept({ route, thread, body: this.#endless() })
    if (this.#random.chance(0.7)) await pause(this.#random.below(cancelMsMax))
    const tree = this.#random.chance(0.3) ? { tree: true as const } : {}
    const tasks = await this.#untilDone(() => this.#wire.cancel(thread, { task: task.id, ...tree }))
    // Only somebody else's cancel can have come first, or the crashes that it caused.
    const isTaken = tasks.includes(task.id)
    const left = isTaken ? {} : { left: (await this.#untilDone(() => this.#get(task.id))).status }
    this.#world.recorder.write({ kind: 'cancelled', thread: this.#threadName(thread), task: task.id, tasks, ...left })
    this.#own.push(task)
  }

  async #cancelThread(thread: string): Promise<void> {
    const scope = this.#random.chance(0.5) ? 'runs' : 'all'
    const tasks = await this.#wire.cancel(thread, { scope })
    this.#world.recorder.write({ kind: 'cancelled', thread: this.#threadName(thread), tasks })
  }

  async #send(): Promise<void> {
    const task = this.#latest
    if (!task) return
    const content = { token: this.#random.next() }
    const id = await this.#wire.send(task.thread, task.id, content)
    const thread = this.#threadName(task.thread)
    this.#world.recorder.write({ kind: 'sent', thread, task: task.id, id, digest: digestOf(content) })
  }

  /** The very request that was answered before, to any node. */
  async #repeat(): Promise<void> {
    const work = this.#lastWork
    if (work) this.#written(work.thread, await this.#wire.accept(work), work.key)
  }

  #leave(task: Task): void {
    this.#own.push(task)
    this.#latest = task
  }

  async #waitForOne(): Promise<void> {
    const task = this.#own.shift()
    if (!task) return
    const { id, thread } = task
    if (!this.#random.chance(this.#world.shape.followed)) return
    const isThere = await followTask(
      this.#world,
      { principal: this.#principal, thread, task: id, transport: this.#transport },
      this.#random,
    )
    if (this.#world.isOver || !isThere) return
    const deletes = this.#world.deletesOf(this.#principal, thread)
    const ended = await this.#endOf(task)
    if (!ended) return
    const { status } = ended
    if (!isTerminal(status))
      this.#world.recorder.write({ kind: 'broken', what: `the stream of ${id} ended, and it is ${status}` })
    const name = this.#threadName(thread)
    this.#world.recorder.write({ kind: 'ended', thread: name, task: id, status, digest: digestOf(ended), ...deletes })
  }

  /** As it is after its end; undefined if it was deleted with its thread meanwhile. */
  async #endOf({ id, thread }: Task): Promise<Task | undefined> {
    try {
      return await this.#untilDone(() => this.#get(id))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, code } = error.problem
      const where = { by: this.#name, op: `get ${id}`, thread: this.#threadName(thread), task: id }
      this.#world.recorder.write({ kind: 'refused', ...where, status, code })
      return undefined
    }
  }

  /** Under a key, and again until it is answered. */
  async #accept(work: Work): Promise<Task> {
    this.#askCount += 1
    const key = `${this.#name}.${this.#askCount}`
    const keyed = { ...work, body: { ...work.body, metadata: { key } }, key }
    const accepted = await this.#untilDone(() => this.#wire.accept(keyed))
    this.#lastWork = keyed
    return this.#written(work.thread, accepted, key)
  }

  #written(thread: string, { task, node, isRepeat, deletes }: Accepted, key?: string): Task {
    const { id, seq, steered, interrupted } = task
    // Whoever has had a 202 knows that the next answer under its key is a repetition.
    const isKnown = key !== undefined && this.#acknowledged.has(key)
    if (key !== undefined) this.#acknowledged.add(key)
    this.#world.recorder.write({
      kind: 'accepted',
      thread: this.#threadName(thread),
      task: id,
      node,
      seq,
      ...(key !== undefined && { key }),
      ...(isKnown && { repeat: { isTold: isRepeat } }),
      ...(steered !== undefined && { steered }),
      ...(interrupted && { interrupted }),
      ...(deletes && { deletes }),
    })
    return task
  }

  /** Again, until somebody has answered who could do it. */
  async #untilDone<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        const isUnavailable = error instanceof Refused && error.problem.status === 503
        if (!(error instanceof Unanswered) && !isUnavailable) throw error
        if (isUnavailable) await this.#refused('again', error)
        else this.#world.recorder.write({ kind: 'unanswered', by: this.#name, op: 'again' })
        await pause(retryMs)
      }
    }
  }

  #get(id: string): Promise<Task> {
    return this.#wire.get<Task>(`/v1/tasks/${id}`)
  }

  #threadName(thread: string): string {
    return threadName(this.#principal, thread)
  }

  #work(script = this.#script()) {
    return { agent: 'script', input: { script } }
  }

  #endless() {
    return this.#work(makeEndlessScript(this.#random, this.#script()))
  }

  #script() {
    const { shape, effect } = this.#world
    return shape.scripts === 'brief' ? makeBriefScript(this.#random, effect) : makeScript(this.#random, effect)
  }
}
