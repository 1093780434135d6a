import { type AgentLine, isTerminal, type Question, type Task, type ThreadEvent } from '../../client/index.ts'
import { age } from '../show/ages.ts'
import { shellWord } from '../show/shell-word.ts'

/** What is known of a task and of what stands around it. */
export interface Circumstances {
  readonly task: Task
  readonly now: number
  /** The live runs of its thread. */
  readonly runs: readonly Task[]
  /** The open questions of its thread. */
  readonly questions: readonly Question[]
  readonly children: readonly Task[]
  /** The agents that the server can run. */
  readonly agents: readonly Pick<AgentLine, 'name' | 'concurrency'>[]
  /** Why the server starts nothing new, if so. */
  readonly notReady?: 'draining' | 'store_unavailable'
  /** The last events of the task. */
  readonly events: readonly ThreadEvent[]
  /** Where a running task is executed. */
  readonly node?: string
}

/** One reason why a task does not move, and what can be done about it; or `work`: that there is none which is known. */
export interface Reason {
  readonly code:
    | 'draining'
    | 'store'
    | 'agent'
    | 'queue'
    | 'place'
    | 'slot'
    | 'cancelling'
    | 'question'
    | 'tool'
    | 'children'
    | 'work'
  readonly text: string
  /** The tasks or the question it waits for. */
  readonly waitsFor?: readonly string[]
  /** What to run next. */
  readonly command?: string
}

/** Why a task that has not ended does not move, in words; the most telling first. `start` is what its commands begin with. */
export function whyNot(circumstances: Circumstances, start: string): readonly Reason[] {
  return reasonsOf(circumstances).map(({ command, ...reason }) =>
    command === undefined ? reason : { ...reason, command: `${start} ${command}` },
  )
}

function reasonsOf(circumstances: Circumstances): readonly Reason[] {
  const { task } = circumstances
  if (isTerminal(task.status)) return []
  const ofServer = [...serverReasons(circumstances), ...agentReasons(circumstances)]
  const ofTask = task.status === 'pending' ? queueReasons(circumstances) : runningReasons(circumstances)
  const held = [...ofServer, ...ofTask]
  return held.length > 0 ? held : turnReasons(circumstances)
}

/** Nobody is told which running task holds a place or a slot, and which has waited and is to have one again. */
function turnReasons(circumstances: Circumstances): readonly Reason[] {
  const { task, agents } = circumstances
  const isRunning = task.status === 'running'
  const max = agents.find(({ name }) => name === task.agent)?.concurrency
  const command = 'ps --status running'
  if (max === undefined) {
    const text = 'It may start, and waits for a free slot: the node works on as much as it may (HOLDFAST_CONCURRENCY).'
    return isRunning ? [atWork(circumstances)] : [{ code: 'slot', text, command }]
  }
  const limit =
    `its agent ${task.agent} executes at most ${max} at once, over all nodes ` +
    '(its concurrency, else the limit executingTasksPerAgent).'
  const text = isRunning
    ? `It is at work, or sleeping, or waiting for a message or to go on: ${limit}`
    : `It may start, and waits for its turn: ${limit} While fewer execute, it waits for a free slot (HOLDFAST_CONCURRENCY).`
  return [{ code: 'place', text, command }]
}

/** That an agent sleeps, or waits for a message, is known to itself alone. */
function atWork({ task, node, events, now }: Circumstances): Reason {
  const last = events.at(-1)
  const where = node === undefined ? '' : ` on the node ${node}`
  const did = last ? ` Its last event is number ${last.seq}, ${last.type}, ${age(now - last.at)} ago.` : ''
  const text = `At work${where}, or sleeping, or waiting for a message: nothing that the server knows of holds it up.${did}`
  return { code: 'work', text, command: `logs ${task.id}` }
}

function serverReasons({ notReady }: Circumstances): readonly Reason[] {
  if (notReady === 'draining')
    return [{ code: 'draining', text: 'The server is shutting down and starts nothing new.' }]
  if (notReady === undefined) return []
  return [{ code: 'store', text: 'The store of the server is not available; its log says why.', command: 'doctor' }]
}

function agentReasons({ task, agents }: Circumstances): readonly Reason[] {
  const names = agents.map(({ name }) => name)
  if (task.agent === undefined || names.includes(task.agent)) return []
  const has = names.length === 0 ? 'none' : names.join(', ')
  const text = `No node that answers has its agent ${task.agent}; there are: ${has}. Start a server that has it.`
  return [{ code: 'agent', text, command: 'agents' }]
}

/** Runs of a thread take turns; any other task has no queue before it. */
function queueReasons({ task, runs, now }: Circumstances): readonly Reason[] {
  if (task.type !== 'run') return []
  const active = runs.filter(({ status }) => status === 'running')
  const before = runs.filter((run) => run.status === 'pending' && (run.position ?? 0) < (task.position ?? 0))
  const ahead = [...active, ...before.toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0))]
  const [first, ...later] = ahead
  if (!first) return []
  const since = first.startedAt === undefined ? '' : `, which has run for ${age(now - first.startedAt)}`
  const others = later.map(({ id }) => id)
  const rest = others.length === 0 ? '' : ` Before it come also ${listed(others)}.`
  const text = `Queued behind ${first.id}${since}; it is ${placeInQueue(task.position ?? 0)}.${rest}`
  return [{ code: 'queue', text, waitsFor: ahead.map(({ id }) => id), command: `inspect ${first.id}` }]
}

/** A position as people count. */
export function placeInQueue(position: number): string {
  return position === 0 ? 'first in the queue' : `number ${position + 1} in the queue`
}

function runningReasons(circumstances: Circumstances): readonly Reason[] {
  return [
    ...cancelReasons(circumstances),
    ...questionReasons(circumstances),
    ...toolReasons(circumstances),
    ...childReasons(circumstances),
  ]
}

function cancelReasons({ task, now, events }: Circumstances): readonly Reason[] {
  if (task.cancelRequestedAt === undefined) return []
  const cancelling = events.findLast((event) => event.type === 'task.cancelling')
  const by = cancelling ? ` by ${cancelling.data.by}` : ''
  const reason = cancelling?.data.reason === undefined ? '' : ` ("${cancelling.data.reason}")`
  const end = 'It is ended by force when the grace time of the server has passed (HOLDFAST_GRACE_MS, 5 s unless set).'
  return [{ code: 'cancelling', text: `Cancelling for ${age(now - task.cancelRequestedAt)}${by}${reason}. ${end}` }]
}

function questionReasons({ task, questions, now }: Circumstances): readonly Reason[] {
  const open = questions.filter((question) => question.task === task.id && question.answeredAt === undefined)
  return open.map(({ id, text, options, askedAt, expiresAt }) => {
    const choices = options ? ` (${options.join(' | ')})` : ''
    const expires = expiresAt === undefined ? '' : `; it expires in ${age(expiresAt - now)}`
    return {
      code: 'question',
      text: `Waits for an answer to ${id} for ${age(now - askedAt)}: "${text}"${choices}${expires}.`,
      waitsFor: [id],
      command: `answer ${id} ${options?.[0] === undefined ? '"…"' : shellWord(options[0])}`,
    }
  })
}

/** A call without a result. */
function toolReasons({ events, now }: Circumstances): readonly Reason[] {
  const ended = new Set(events.flatMap((event) => (event.type === 'tool.result' ? event.data.id : [])))
  // What an earlier attempt called is called again, or was abandoned.
  const resumed = events.findLast(({ type }) => type === 'task.resumed')?.seq ?? 0
  const open = events.filter((event) => event.type === 'tool.call' && event.seq > resumed && !ended.has(event.data.id))
  return open.flatMap((event): Reason | [] =>
    event.type === 'tool.call'
      ? { code: 'tool', text: `In its tool ${event.data.name} for ${age(now - event.at)}.` }
      : [],
  )
}

function childReasons({ task, children }: Circumstances): readonly Reason[] {
  const live = children.filter(({ status }) => !isTerminal(status)).map(({ id }) => id)
  if (live.length === 0) return []
  const text = `Has ${live.length} live ${live.length === 1 ? 'child' : 'children'}, which it may wait for: ${listed(live)}.`
  return [{ code: 'children', text, waitsFor: live, command: `tree ${task.id}` }]
}

const listedMax = 5

function listed(ids: readonly string[]): string {
  const rest = ids.length - listedMax
  return rest > 0 ? `${ids.slice(0, listedMax).join(', ')} and ${rest} more` : ids.join(', ')
}
