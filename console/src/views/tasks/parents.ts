import type { Task } from 'holdfast/client'

/** Whom a task works for, by its id; undefined of one that works for nobody. */
export type KnownParents = ReadonlyMap<string, string | undefined>

// A browser has six connections for everything, and the rest of the page wants some.
const underWayMax = 4

/**
 * Reads whom tasks work for, up to their roots, a few at a time. What is wanted may change at any time: what is under way goes on,
 * and what is of no use any more is forgotten.
 */
export class Parents {
  readonly #read: (id: string, signal: AbortSignal) => Promise<Task>
  readonly #onChange: (known: KnownParents) => void
  readonly #leaving = new AbortController()
  #wanted: readonly string[] = []
  #known: KnownParents = new Map()
  /** Not asked for again before something else is wanted. */
  #unreadable = new Set<string>()
  #isReading = false

  constructor(read: (id: string, signal: AbortSignal) => Promise<Task>, onChange: (known: KnownParents) => void) {
    this.#read = read
    this.#onChange = onChange
  }

  want(tasks: readonly string[]): void {
    this.#wanted = tasks
    this.#unreadable = new Set()
    this.#know([])
    if (!this.#isReading) void this.#readAll()
  }

  stop(): void {
    this.#leaving.abort()
  }

  async #readAll(): Promise<void> {
    const { signal } = this.#leaving
    this.#isReading = true
    for (let ids = this.#unknown(); ids.length > 0; ids = this.#unknown()) {
      const answers = await Promise.allSettled(ids.map((id) => this.#read(id, signal)))
      if (signal.aborted) return
      for (const [at, id] of ids.entries()) if (answers[at]?.status === 'rejected') this.#unreadable.add(id)
      this.#know(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])))
    }
    this.#isReading = false
  }

  #unknown(): string[] {
    const isUnknown = (id: string) => !this.#known.has(id) && !this.#unreadable.has(id)
    return [...this.#lines(this.#known)].filter(isUnknown).slice(0, underWayMax)
  }

  #know(read: readonly Task[]): void {
    const all = new Map([...this.#known, ...read.map(({ id, parent }) => [id, parent?.task ?? parent?.run] as const)])
    const lines = this.#lines(all)
    const known = new Map([...all].filter(([id]) => lines.has(id)))
    const isSame = read.length === 0 && known.size === this.#known.size
    this.#known = known
    if (!isSame) this.#onChange(known)
  }

  #lines(known: KnownParents): ReadonlySet<string> {
    return new Set(this.#wanted.flatMap((id) => lineOf(id, known)))
  }
}

/** How many of the asking are a task or work for it, by its id. */
export function countsOf(asking: readonly string[], known: KnownParents): ReadonlyMap<string, number> {
  const all = asking.flatMap((id) => lineOf(id, known))
  return new Map([...Map.groupBy(all, (id) => id)].map(([id, found]) => [id, found.length]))
}

function lineOf(task: string, known: KnownParents): string[] {
  const line: string[] = []
  for (let id: string | undefined = task; id !== undefined; id = known.get(id)) line.push(id)
  return line
}
