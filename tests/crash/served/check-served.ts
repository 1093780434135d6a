import type { Event, Task } from '../../../src/index.ts'
import type { Effect } from '../../server/harness/ledger.ts'
import { checkPromises } from '../check-acknowledged.ts'
import { checkLogs } from '../check-log.ts'
import { checkQuestions } from '../check-questions.ts'
import { byTask, type Case, entriesOf, ofType, standingEvents } from '../history.ts'
import { scriptIn, textOfScript } from './script-program.ts'

/** What the checks of a served load go by. */
export interface ServedCase extends Case {
  /** What the steps of scripts did outside. */
  readonly posted: readonly Effect[]
  /** What clients were given, by thread and number. */
  readonly seen: ReadonlyMap<string, readonly (string | undefined)[]>
}

/** All that is wrong with what came of a load. */
export function violationsOf(found: ServedCase): string[] {
  const checks = [checkLogs, checkPromises, checkQuestions, checkGiven, checkEffects, checkScripts, checkTaken]
  return checks.flatMap((check) => [...check(found)])
}

/** What any client was given is in the log, under its number. */
function* checkGiven({ seen, threads }: ServedCase): Generator<string> {
  for (const [thread, texts] of seen) {
    const log = threads.get(thread)?.log ?? []
    for (const [seq, text] of texts.entries()) {
      const now = JSON.stringify(log[seq - 1])
      if (text !== undefined && text !== now) yield `${thread}: ${seq} was given as ${text} and is ${now}`
    }
  }
}

/** A step is executed at most once in an attempt, and never again once the log tells of it. */
function* checkEffects({ posted, threads, tasks }: ServedCase): Generator<string> {
  const effects = Map.groupBy(posted, ({ task, key }) => `${task} ${key}`)
  for (const [step, executions] of effects) {
    const attempts = executions.map(({ attempt }) => attempt)
    if (!tasks.has(executions[0]?.task ?? '')) yield `${step} was executed, and there is no such task`
    if (new Set(attempts).size !== attempts.length)
      yield `${step} was executed twice in one attempt: ${attempts.join()}`
  }
  for (const thread of threads.values()) {
    for (const [task, events] of byTask(thread)) yield* checkTold(task, events, effects)
  }
}

function* checkTold(task: string, events: readonly Event[], effects: Map<string, Effect[]>): Generator<string> {
  const told = new Set<string>()
  let attempt = 0
  for (const event of events) {
    if (event.type === 'task.started' || event.type === 'task.resumed') attempt = event.data.attempt
    if (event.type !== 'custom' || event.data.name !== 'step_executed') continue
    const { key } = event.data.payload as { key: string }
    if (told.has(key)) yield `${task} tells twice of ${key}`
    told.add(key)
    const last = effects.get(`${task} ${key}`)?.at(-1)?.attempt
    if (last !== attempt) yield `${task} told of ${key} in attempt ${attempt}, and executed it last in ${last}`
  }
}

/** Each script said what stands in it, and ended as it says or for a reason that it can have. */
function* checkScripts(found: ServedCase): Generator<string> {
  for (const thread of found.threads.values()) {
    for (const [id, events] of byTask(thread)) {
      const task = found.tasks.get(id)
      const script = scriptIn(task?.input)
      if (!task || !script) continue
      const said = ofType(standingEvents(events), 'text.delta').map(({ data }) => data.text)
      const text = said.join('')
      const whole = textOfScript(script)
      if (!whole.startsWith(text)) yield `${id} said "${text}" where its script says "${whole}"`
      if (task.status === 'completed' && text !== whole) yield `${id} completed and said only "${text}"`
      const fails = script.some((op) => 'fail' in op)
      if (task.status === 'completed' && fails) yield `${id} completed where its script fails`
      const isPlanned = task.error?.code === 'agent_error' && fails
      const isPoisoned = task.error?.code === 'poisoned' && crashesOf(task, found) >= 3
      if (task.status === 'failed' && !isPlanned && !isPoisoned) yield `${id} failed: ${JSON.stringify(task.error)}`
    }
  }
}

/** How many processes died while it was being executed. */
function crashesOf({ startedAt = 0, completedAt = 0 }: Task, { diedAt }: Case): number {
  return diedAt.filter((at) => at >= startedAt && at <= completedAt).length
}

/** A result is taken at most once, and waits until it is. */
function* checkTaken(found: ServedCase): Generator<string> {
  const metadata = [...found.tasks.values()].map((task) => task.metadata as { wakes?: string[] } | undefined)
  const wakes = metadata.flatMap((given) => given?.wakes ?? [])
  const collected = entriesOf(found, 'collected').flatMap((entry) => entry.tasks)
  const taken = Map.groupBy([...wakes, ...collected], (task) => task)
  const untaken = new Set([...found.threads.values()].flatMap((thread) => thread.untaken))
  const asked = new Set(entriesOf(found, 'collecting').flatMap((entry) => entry.tasks))
  for (const [task, takers] of taken) {
    if (takers.length > 1) yield `the result of ${task} was taken twice`
    if (untaken.has(task)) yield `the result of ${task} was taken and is still there`
  }
  for (const task of found.tasks.values()) {
    if (task.type === 'run' || untaken.has(task.id) || taken.has(task.id) || asked.has(task.id)) continue
    if (!mayWait(found.tasks.get(task.parent?.task ?? ''))) yield `the result of ${task.id} is gone, nobody took it`
  }
}

/** Whether a task's script waits for a child, so that it may have taken the child's result. */
function mayWait(parent: Task | undefined): boolean {
  const script = scriptIn(parent?.input) ?? []
  return script.some((op) => (op['spawn'] as { wait?: boolean } | undefined)?.wait === true)
}
