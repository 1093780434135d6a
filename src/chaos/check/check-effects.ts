import type { Event } from '../../core/event.ts'
import type { Task } from '../../core/task.ts'
import { byTask, type Case, entriesOf, isTrimmed, ofType, standingEvents } from '../history/case.ts'
import type { EntryOf } from '../history/entry.ts'
import { scriptIn, spawnMark, textOfScript } from '../load/script-program.ts'
import { broken, lifeOf, lineOf, type Violation } from './violation.ts'

type Effect = EntryOf<'effect'>

/** Whether scripts did what stands in them, and no more often than they may. */
export function* checkEffects(found: Case): Generator<Violation> {
  const effects = Map.groupBy(entriesOf(found, 'effect'), ({ task, key }) => `${task} ${key}`)
  for (const [step, executions] of effects) {
    const attempts = executions.map(({ attempt }) => attempt)
    if (!found.tasks.has(executions[0]?.task ?? ''))
      yield broken('G1', `${step} was executed, and there is no such task`, executions)
    if (new Set(attempts).size !== attempts.length)
      yield broken('G11', `${step} was executed twice in one attempt`, executions)
  }
  for (const thread of found.threads.values()) {
    for (const [id, events] of byTask(thread)) {
      if (isTrimmed(thread, events)) continue
      yield* checkTold(id, events, effects)
      yield* checkScript(id, events, found)
    }
  }
  yield* checkUnstarted(found, effects)
  yield* checkSpawns(found)
}

/** A step that the log tells of was executed in the attempt that tells of it, and in no later one. */
function* checkTold(id: string, events: readonly Event[], effects: Map<string, Effect[]>): Generator<Violation> {
  const told = new Set<string>()
  let begun: Event | undefined
  for (const event of events) {
    if (event.type === 'task.started' || event.type === 'task.resumed') begun = event
    if (event.type !== 'custom' || event.data.name !== 'step_executed') continue
    const { key } = event.data.payload as { key: string }
    if (told.has(key)) yield broken('G11', `${id} tells twice of ${key}`, [lineOf(event)])
    told.add(key)
    const executions = effects.get(`${id} ${key}`) ?? []
    const last = Math.max(0, ...executions.map(({ attempt }) => attempt))
    const attempt = begun?.type === 'task.started' || begun?.type === 'task.resumed' ? begun.data.attempt : 0
    if (last === attempt) continue
    const what = `${id} told of ${key} in attempt ${attempt}, and executed it last in ${last}`
    yield broken('G11', what, [begun && lineOf(begun), lineOf(event), ...executions])
  }
}

/** What a cancel took before it was started does nothing. */
function* checkUnstarted(found: Case, effects: Map<string, Effect[]>): Generator<Violation> {
  for (const [step, executions] of effects) {
    const task = found.tasks.get(executions[0]?.task ?? '')
    if (!task || task.startedAt !== undefined) continue
    yield broken('G7', `${step} was executed, and its task was never started`, [
      ...executions,
      ...lifeOf(found, task.id),
    ])
  }
}

/** Each script said what stands in it, and ended as it says or for a reason that it can have. */
function* checkScript(id: string, events: readonly Event[], found: Case): Generator<Violation> {
  const task = found.tasks.get(id)
  const script = scriptIn(task?.input)
  if (!task || !script) return
  const text = ofType(standingEvents(events), 'text.delta')
    .map(({ data }) => data.text)
    .join('')
  const whole = textOfScript(script)
  const fails = script.some((op) => 'fail' in op)
  const witness = () => [{ script, text, error: task.error }, ...lifeOf(found, id)]
  if (!whole.startsWith(text)) yield broken('G11', `${id} said "${text}" where its script says "${whole}"`, witness())
  if (task.status === 'completed' && text !== whole)
    yield broken('G11', `${id} completed and said only "${text}"`, witness())
  if (task.status === 'completed' && fails) yield broken('G5', `${id} completed where its script fails`, witness())
  const isPlanned = task.error?.code === 'agent_error' && fails
  const isPoisoned = task.error?.code === 'poisoned' && disturbancesOf(task, found) >= 3
  if (task.status === 'failed' && !isPlanned && !isPoisoned) {
    yield broken('G11', `${id} failed as ${task.error?.code}: ${task.error?.message}`, witness())
  }
}

/** How many attempts the faults that were injected while it was being executed can have cost it. */
function disturbancesOf({ startedAt = 0, completedAt = 0 }: Task, found: Case): number {
  const from = startedAt - found.round.leaseMs
  const faults = entriesOf(found, 'fault').filter(({ at }) => at >= from && at <= completedAt)
  // That one ends two processes: the one that was up, and the next, which may have begun another attempt.
  return faults.reduce((sum, { fault }) => sum + (fault === 'kill opening' ? 2 : 1), 0)
}

/** An op that spawns makes one child, whatever dies. */
function* checkSpawns(found: Case): Generator<Violation> {
  const spawned = [...found.tasks.values()].filter((task) => spawnMark(scriptIn(task.input)) !== undefined)
  const made = Map.groupBy(spawned, (task) => `${task.parent?.task} ${spawnMark(scriptIn(task.input))}`)
  for (const [op, children] of made) {
    if (children.length < 2) continue
    const witness = children.flatMap(({ id }) => lifeOf(found, id).slice(0, 2))
    yield broken('G11', `${op} was spawned as ${children.map(({ id }) => id).join(' and ')}`, witness)
  }
}
