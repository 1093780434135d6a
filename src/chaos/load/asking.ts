import type { Question } from '../../core/question.ts'
import type { ThreadSnapshot } from '../../core/thread-snapshot.ts'
import { digestOf, threadName } from '../history/entry.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { WireClient } from './wire-client.ts'
import type { World } from './world.ts'

/** Who asks, and over which line. */
export interface Asker {
  readonly world: World
  readonly random: SeededRandom
  readonly principal: string
  readonly wire: WireClient
}

/** Answers one of the questions that are open. */
export async function answerOne({ world, random, principal, wire }: Asker): Promise<void> {
  const { questions } = await wire.get<{ questions: Question[] }>('/v1/questions')
  const question = random.pick(questions)
  if (!question) return
  const { id, thread, task, answer } = await wire.answer(question.id, random.next())
  const name = threadName(principal, thread)
  world.recorder.write({ kind: 'settled', thread: name, task, question: id, digest: digestOf(answer) })
}

/** Takes some of the results that wait. */
export async function collect({ world, principal, wire }: Asker, thread: string): Promise<void> {
  const path = `/v1/threads/${thread}/results`
  const { results } = await wire.get<{ results: { task: string }[] }>(path)
  const tasks = results.slice(0, 3).map(({ task }) => task)
  const name = threadName(principal, thread)
  world.recorder.write({ kind: 'collecting', thread: name, tasks })
  const { collected } = await wire.post<{ collected: string[] }>(`${path}/collect`, { tasks })
  world.recorder.write({ kind: 'collected', thread: name, tasks: collected })
}

export async function readThread({ world, principal, wire }: Asker, thread: string): Promise<void> {
  const { head, messages } = await wire.get<ThreadSnapshot>(`/v1/threads/${thread}`)
  const newest = messages.slice(-4).map((message) => [message.id, digestOf(message)] as const)
  world.recorder.write({ kind: 'read', thread: threadName(principal, thread), head, messages: newest })
}
