import type { AgentLine, Question, Task } from 'holdfast/client'
import { lastingText } from '../../design/span-text.ts'

/** What is known of a task and of what stands around it. */
export interface Circumstances {
  readonly task: Task
  readonly now: number
  /** The run that is at work in its thread. */
  readonly run?: Task | undefined
  /** The runs that wait in its thread, in the order in which they start. */
  readonly queue: readonly Task[]
  /** The open questions of it and of all below it. */
  readonly questions: readonly Question[]
  /** The agents that nodes have; absent until they are known. */
  readonly agents?: readonly Pick<AgentLine, 'name' | 'concurrency'>[] | undefined
}

/** What a task waits for, in one line, and the task in it that can be looked at. */
export interface Waiting {
  readonly text: string
  readonly task?: string
}

/** Why a task does not move, as far as a page can know; undefined if nothing that it knows of holds it. */
export function waitingOf(circumstances: Circumstances): Waiting | undefined {
  const { status } = circumstances.task
  if (status === 'pending') return missingAgent(circumstances) ?? queued(circumstances) ?? turn(circumstances)
  if (status === 'running') return cancelling(circumstances) ?? asking(circumstances)
  return undefined
}

function missingAgent({ task: { agent }, agents }: Circumstances): Waiting | undefined {
  if (agent === undefined || !agents || agents.some(({ name }) => name === agent)) return undefined
  return { text: `no node that answers has its agent ${agent}; start a server that has it` }
}

/** Runs of a thread take turns; any other task has no queue before it. */
function queued({ task, now, run, queue }: Circumstances): Waiting | undefined {
  const place = queue.findIndex(({ id }) => id === task.id)
  const first = run ?? (place > 0 ? queue[0] : undefined)
  if (place < 0 || !first) return undefined
  const ran = first.startedAt === undefined ? '' : `, which has run for ${lastingText(now - first.startedAt)}`
  const number = place === 0 ? 'first' : `number ${place + 1}`
  return { text: `queued behind ${first.id}${ran}; ${number} in the queue`, task: first.id }
}

function turn({ task, queue, agents }: Circumstances): Waiting | undefined {
  const isPlaced = task.type !== 'run' || queue.some(({ id }) => id === task.id)
  if (!agents || !isPlaced) return undefined
  const max = agents.find(({ name }) => name === task.agent)?.concurrency
  if (max === undefined) return { text: 'may start, and waits for a free slot' }
  return { text: `may start, and waits for its turn: its agent ${task.agent} executes at most ${max} at once` }
}

function cancelling({ task: { cancelRequestedAt }, now }: Circumstances): Waiting | undefined {
  if (cancelRequestedAt === undefined) return undefined
  return {
    text: `being cancelled for ${lastingText(now - cancelRequestedAt)}; it is forced when its grace time is over`,
  }
}

/** Its own question holds it in any case; one of a task below only if it waits for that task, which it mostly does. */
function asking({ task, now, questions }: Circumstances): Waiting | undefined {
  const own = questions.filter((question) => question.task === task.id)
  const [first] = own.length > 0 ? own : questions
  if (!first) return undefined
  const since = `for ${lastingText(now - first.askedAt)}`
  if (own.length > 1) return { text: `waits for answers to ${own.length} questions, ${since}` }
  if (own.length === 1) return { text: `waits for an answer to its question, ${since}` }
  return { text: `${first.task} below it waits for an answer, ${since}`, task: first.task }
}
