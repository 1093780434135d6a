import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Journal } from './journal.ts'

/** One execution of a step's code, as the world outside saw it. */
export interface Effect {
  readonly task: string
  readonly step: string
  readonly attempt: number
  /** Made anew by each execution; the value that the step records. */
  readonly nonce: string
}

/** Where steps leave their effects: a file that only grows, each line on disk before the step returns. */
export class Ledger {
  readonly #descriptor: number
  readonly #life: string
  #count = 0

  constructor(path: string, life: string) {
    this.#descriptor = openSync(path, 'a')
    this.#life = life
    // A line torn by a kill must not swallow the next one.
    writeSync(this.#descriptor, '\n')
  }

  perform(task: string, step: string, attempt: number): string {
    this.#count += 1
    const effect: Effect = { task, step, attempt, nonce: `${this.#life}.${this.#count}` }
    writeSync(this.#descriptor, `${JSON.stringify(effect)}\n`)
    fsyncSync(this.#descriptor)
    return effect.nonce
  }
}

/** What agents under test leave outside the store. */
export interface Outside {
  readonly ledger: Ledger
  readonly journal: Journal
}

/** All effects in the order in which they happened. */
export function readEffects(path: string): Effect[] {
  const effects: Effect[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue
    try {
      effects.push(JSON.parse(line) as Effect)
    } catch {
      // Torn by a kill: that step never returned.
    }
  }
  return effects
}
