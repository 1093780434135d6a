import { expect } from 'vitest'
import type { EventData, EventDraft } from '../../src/core/event.ts'
import type { Unit } from '../../src/core/unit.ts'

interface Known {
  readonly id: string
  readonly isRun: boolean
  readonly parent: string | undefined
  readonly isDetached: boolean
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  isCancelling: boolean
}

const endings: Readonly<Record<string, Known['status']>> = {
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.cancelled': 'cancelled',
}

/**
 * What must hold of any thread, told from its committed units alone: a model of its own, which shares no code with the
 * rules it checks.
 *
 * T1 A task is accepted once, under a parent that is live and not being cancelled.
 * T2 It starts at most once, while it is pending; of the runs of a thread one is running at a time.
 * T3 It is cancelled at most once, while it is running, and then ends cancelled; pending it ends no other way.
 * T4 It ends once, and nothing follows its end.
 * T5 After each unit whatever is attached to an ended task is being cancelled or has ended.
 * T6 An end cancels the live attached tree of its task, parents before children, and nothing else.
 */
export class TreeLaws {
  readonly #tasks = new Map<string, Known>()

  take(unit: Unit): void {
    const tree = unit.operation === 'end' ? this.#endedTree(unit) : undefined
    for (const event of unit.events) this.#event(event)
    for (const task of this.#live()) {
      if (task.isDetached || task.parent === undefined) continue
      const hasEnded = !this.#isLive(task.parent)
      expect([task.id, hasEnded && !task.isCancelling], 'T5').toEqual([task.id, false])
    }
    if (tree) expect(cancelledIn(unit).slice(1).toSorted(), 'T6').toEqual(tree.toSorted())
    this.#expectParentsFirst(unit)
  }

  get ids(): string[] {
    return [...this.#tasks.keys()]
  }

  statusOf(id: string): string | undefined {
    return this.#tasks.get(id)?.status
  }

  /** The live tasks that a cancel reaches now. */
  reach(scope: 'task' | 'tree' | 'runs' | 'all', id?: string): string[] {
    const live = this.#live()
    if (scope === 'all') return live.map((task) => task.id)
    const roots = live.filter((task) => (scope === 'runs' ? task.isRun : task.id === id))
    return roots.flatMap((root) => (scope === 'task' ? [root.id] : [root.id, ...this.#below(root.id)]))
  }

  #live(): Known[] {
    return [...this.#tasks.values()].filter((task) => this.#isLive(task.id))
  }

  #isLive(id: string): boolean {
    const status = this.#tasks.get(id)?.status
    return status === 'pending' || status === 'running'
  }

  #below(id: string): string[] {
    const children = this.#live().filter((task) => task.parent === id && !task.isDetached)
    return children.flatMap((child) => [child.id, ...this.#below(child.id)])
  }

  /** What the unit that ends a task has to cancel. */
  #endedTree(unit: Unit): string[] {
    const ended = unit.events.find((event) => event.type in endings)?.task ?? ''
    return this.#below(ended).filter((id) => !this.#tasks.get(id)?.isCancelling)
  }

  #expectParentsFirst(unit: Unit): void {
    const order = cancelledIn(unit)
    for (const [index, id] of order.entries()) {
      const parent = this.#tasks.get(id)?.parent
      const parentIndex = parent === undefined ? -1 : order.indexOf(parent)
      if (!this.#tasks.get(id)?.isDetached) expect(parentIndex, 'T6').toBeLessThan(index)
    }
  }

  #event(event: EventDraft): void {
    const id = event.task ?? ''
    if (event.type === 'task.accepted') return this.#accept(id, JSON.parse(event.data) as EventData['task.accepted'])
    const task = this.#tasks.get(id)
    if (!task) throw new Error(`${event.type} of ${id}, which was never accepted`)
    expect([id, event.type, this.#isLive(id)], 'T4').toEqual([id, event.type, true])
    if (event.type === 'task.started') this.#start(task)
    if (event.type === 'task.cancelling') {
      expect(task, 'T3').toMatchObject({ status: 'running', isCancelling: false })
      task.isCancelling = true
    }
    const ending = endings[event.type]
    if (ending === undefined) return
    if (task.isCancelling || task.status === 'pending') expect(ending, 'T3').toBe('cancelled')
    task.status = ending
  }

  #accept(id: string, { task }: EventData['task.accepted']): void {
    const parent = task.parent?.task
    expect(this.#tasks.has(id), 'T1').toBe(false)
    if (parent !== undefined) {
      expect([parent, this.#isLive(parent), this.#tasks.get(parent)?.isCancelling], 'T1').toEqual([parent, true, false])
    }
    const isDetached = task.detached === true
    this.#tasks.set(id, {
      id,
      isRun: task.type === 'run',
      parent,
      isDetached,
      status: 'pending',
      isCancelling: false,
    })
  }

  #start(task: Known): void {
    expect(task.status, 'T2').toBe('pending')
    task.status = 'running'
    const running = this.#live().filter(({ isRun, status }) => isRun && status === 'running')
    expect(running.length, 'T2').toBeLessThanOrEqual(1)
  }
}

/** The tasks that a unit ends, or begins to cancel, in the order in which it does. */
function cancelledIn(unit: Unit): string[] {
  const events = unit.events.filter(({ type }) => type === 'task.cancelling' || type in endings)
  return events.map(({ task }) => task ?? '')
}
