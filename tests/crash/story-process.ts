import { createRuntime } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type CallPoint, countedStore } from './counted-store.ts'
import { type Entry, pipeJournal as journal } from './journal.ts'
import { Ledger } from './ledger.ts'
import { storyAgents, tellStory } from './story.ts'

/** What the process is to do, given as its only argument. */
export interface StoryOptions {
  readonly store: string
  readonly ledger: string
  readonly life: string
  /** Where it kills itself; if nowhere, it writes down every call of the store. */
  readonly dieAt?: CallPoint
  readonly told: readonly Entry[]
}

const { store, ledger, life, dieAt, told } = JSON.parse(process.argv[2] ?? '') as StoryOptions

function onCall(point: CallPoint): void {
  if (!dieAt) return journal({ kind: 'called', point })
  const { method, nth, when } = dieAt
  if (point.method === method && point.nth === nth && point.when === when) process.kill(process.pid, 'SIGKILL')
}

const runtime = createRuntime({
  store: countedStore(sqliteStore({ path: store }), onCall),
  agents: storyAgents({ journal, ledger: new Ledger(ledger, life) }),
})
await tellStory(runtime, journal, told)
