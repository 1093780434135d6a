import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime } from '../../src/index.ts'
import { checkAcknowledged } from './check-acknowledged.ts'
import { checkLogs } from './check-log.ts'
import { checkQuestions } from './check-questions.ts'
import { checkSteps } from './check-steps.ts'
import { Child } from './child.ts'
import type { CallPoint } from './counted-store.ts'
import type { Case } from './history.ts'
import type { Entry } from './journal.ts'
import { Ledger, readEffects } from './ledger.ts'
import { readStore } from './lives.ts'
import { storyAgents, storyThread, tellStory } from './story.ts'

/** One telling of the story, by processes that die and a last one that does not. */
export class Telling {
  readonly #entries: Entry[] = []
  readonly #folder: string
  readonly #program: string
  #lifeCount = 0

  /** In a folder that is removed in the end, by processes of this program. */
  static async within<Value>(
    use: (telling: Telling) => Promise<Value>,
    program = './story-process.ts',
  ): Promise<Value> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-crash-'))
    try {
      return await use(new Telling(folder, program))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  private constructor(folder: string, program: string) {
    this.#folder = folder
    this.#program = program
  }

  /** Tells it in a process that kills itself at a call of the store; false if it came to its end without that call. */
  async die(dieAt: CallPoint): Promise<boolean> {
    return (await this.#process({ dieAt })) === 'SIGKILL'
  }

  /** Tells it in a process that comes to its end, and answers with all its calls of the store. */
  async count(): Promise<CallPoint[]> {
    await this.#process({})
    return this.#entries.flatMap((entry) => (entry.kind === 'called' ? [entry.point] : []))
  }

  /** Goes on in this process, where nothing dies, to the end. */
  async finish(): Promise<Case> {
    const { store, ledger, life } = this.#files()
    const journal = (entry: Entry) => void this.#entries.push(entry)
    const agents = storyAgents({ journal, ledger: new Ledger(ledger, life) })
    await tellStory(createRuntime({ store: `sqlite:${store}`, agents }), journal, [...this.#entries])
    return { ...(await readStore(store)), entries: this.#entries, effects: readEffects(ledger), diedAt: [] }
  }

  async #process(options: { readonly dieAt?: CallPoint }): Promise<NodeJS.Signals | null> {
    const child = new Child(this.#program, { ...this.#files(), ...options, told: this.#entries })
    const { signal, code, complaint } = await child.ended()
    if (signal === null && code !== 0) throw new Error(`A process that tells the story failed: ${complaint}`)
    this.#entries.push(...child.entries)
    return signal
  }

  #files() {
    this.#lifeCount += 1
    const file = (name: string) => join(this.#folder, name)
    return { store: file('store.db'), ledger: file('ledger'), life: `life${this.#lifeCount}` }
  }
}

/** All that is wrong with a story that was told to its end. */
export function storyViolations(found: Case): string[] {
  const violations = [checkLogs, checkAcknowledged, checkSteps, checkQuestions].flatMap((check) => [...check(found)])
  const tasks = [...found.tasks.values()].map(({ agent, status, result }) => `${agent} ${status} ${String(result)}`)
  const ended = 'child completed grown, idler cancelled undefined, parent completed grown'
  if (tasks.sort().join(', ') !== ended) violations.push(`the tasks are ${tasks.join(', ')}`)
  const said = JSON.stringify(found.threads.get(storyThread)?.messages.at(-1)?.parts)
  if (said !== '[{"type":"text","text":"one;two;three;"}]') violations.push(`the parent said ${said}`)
  return violations
}
