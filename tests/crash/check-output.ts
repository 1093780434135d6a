import type { Event, Task } from '../../src/index.ts'
import { byTask, type Case, ofType, standingEvents, type ThreadHistory } from './history.ts'
import { assignmentIn, programOf, resultOf, textOf, tokensOf, wokenText } from './program.ts'

/** Whether each task of the load did what its program says, once, and ended for a reason that it can have. */
export function* checkOutputs(found: Case): Generator<string> {
  for (const thread of found.threads.values()) {
    for (const [id, events] of byTask(thread)) {
      const task = found.tasks.get(id)
      if (!task) continue
      const standing = standingEvents(events)
      yield* checkText(task, standing, thread)
      yield* checkEnding(task, found)
      yield* checkReceived(task, standing)
      yield* checkReported(task, standing)
      yield* checkCalls(task, standing)
    }
  }
}

/** What it said is the beginning of its program's text, all of it if it completed, and so is the message. */
function* checkText(task: Task, standing: readonly Event[], { messages }: ThreadHistory): Generator<string> {
  const said = ofType(standing, 'text.delta').map((event) => event.data.text)
  const text = said.join('')
  const expected = expectedText(task)
  if (expected !== undefined) {
    if (!expected.startsWith(text)) yield `${task.id} said "${text}" where its program says "${expected}"`
    if (task.status === 'completed' && text !== expected) yield `${task.id} completed and said only "${text}"`
  }
  if (task.type !== 'run') return
  const message = messages.find(({ id }) => id === `${task.id}.assistant`)
  const parts = message?.parts.map((part) => (part.type === 'text' ? part.text : '')) ?? []
  if (parts.join('') !== text) yield `${task.id} said "${text}" and its message says "${parts.join('')}"`
  if (task.status === 'cancelled' && message?.finish !== 'cancelled') yield `${task.id} was cancelled without a message`
}

function expectedText(task: Task): string | undefined {
  if (task.agent === 'stubborn') return ''
  if (task.agent === undefined) return 'closure;'
  const assignment = assignmentIn(task.input)
  return assignment ? textOf(programOf(assignment)) : wokenText
}

function* checkEnding(task: Task, found: Case): Generator<string> {
  const code = task.error?.code
  const planned = plannedEnding(task)
  if (task.status === 'cancelled') return
  if (task.status === 'completed' && planned === 'completed') return
  if (code === 'agent_error' && (planned === 'failed' || task.agent === undefined)) return
  if (code === 'orphaned' && (task.agent === 'fragile' || task.agent === undefined)) return
  if (code === 'timeout' && task.agent === 'stubborn') return
  if (code === 'poisoned' && crashesOf(task, found) >= 3) return
  yield `${task.id} (${task.agent ?? 'closure'}) is ${task.status}: ${JSON.stringify(task.error ?? planned)}`
}

function plannedEnding(task: Task): string | undefined {
  if (task.agent !== 'mixed' && task.agent !== 'fragile') return undefined
  const assignment = assignmentIn(task.input)
  return assignment ? programOf(assignment).ending : 'completed'
}

/** How many processes died while it was being executed. */
function crashesOf({ startedAt = 0, completedAt = 0 }: Task, { diedAt }: Case): number {
  return diedAt.filter((at) => at >= startedAt && at <= completedAt).length
}

/** Messages are read in the order of their acceptance, each once. */
function* checkReceived(task: Task, standing: readonly Event[]): Generator<string> {
  const tokens = ofType(standing, 'custom').flatMap(({ data }) =>
    data.name === 'received' ? [(data.payload as { token: string }).token] : [],
  )
  if (new Set(tokens).size !== tokens.length) yield `${task.id} read a message twice`
  const ends = ofType(standing, 'custom').flatMap(({ data }) =>
    data.name === 'child_ended' ? [(data.payload as { task: string }).task] : [],
  )
  if (new Set(ends).size !== ends.length) yield `${task.id} heard twice of the end of a child`
}

/** What the record sums up is what the events that count reported, and what a completed program says. */
function* checkReported(task: Task, standing: readonly Event[]): Generator<string> {
  const reported = ofType(standing, 'usage').reduce((sum, event) => sum + (event.data['tokens'] ?? 0), 0)
  const tokens = task.usage?.['tokens'] ?? 0
  if (tokens !== reported) yield `${task.id} used ${tokens} tokens where its events say ${reported}`
  if (task.status !== 'completed') return
  if (task.progress !== 1) yield `${task.id} completed with progress ${task.progress}`
  const assignment = assignmentIn(task.input)
  if (!assignment) return
  const program = programOf(assignment)
  if (tokens !== tokensOf(program)) yield `${task.id} used ${tokens} tokens, not ${tokensOf(program)}`
  if (task.result !== resultOf(program)) yield `${task.id} has the result ${JSON.stringify(task.result)}`
}

/** Every tool call that counts has one result. */
function* checkCalls(task: Task, standing: readonly Event[]): Generator<string> {
  const calls = ofType(standing, 'tool.call').map((event) => event.data.id)
  const results = ofType(standing, 'tool.result').map((event) => event.data.id)
  if (calls.sort().join() !== results.sort().join()) yield `${task.id} called ${calls.join()} and got ${results.join()}`
}
