import { useMemo } from 'react'
import {
  type Accepted,
  type AgentName,
  type AnyAgents,
  type Client,
  HoldfastError,
  type OnBusy,
  type Part,
  type Question,
  type TaskId,
  type ThreadSnapshot,
} from '../client/index.ts'
import type { LiveThread, ThreadValue } from '../client/live/thread.ts'
import { useClient, useModels } from './provider.ts'
import { useLive } from './use-live.ts'

/** Who answers, and what is shown before the server is heard. */
export interface UseThreadOptions<Name extends string = string> {
  /** Who is asked by `send`, unless that names another. */
  readonly agent?: Name | undefined
  /** The thread as it was read before, maybe on a server. It goes on from its `head`. */
  readonly initial?: ThreadSnapshot | undefined
}

/** Who answers, and what is done if the thread is busy. */
export interface SendOptions<Name extends string = string> {
  readonly agent?: Name
  /** What becomes of it while a run is live: `queue` unless given. */
  readonly onBusy?: OnBusy
}

/** What can be done in a thread. Each resolves when the server has it, and rejects with a HoldfastError. */
export interface ThreadActions<Name extends string = string> {
  /** Asks the agent, with a text or with parts. */
  send(prompt: string | readonly Part[], options?: SendOptions<Name>): Promise<Accepted>
  /** Tells the run that is at work; it reads it at its next step. */
  steer(text: string): Promise<Accepted>
  /** Cancels what is at work and asks this instead. */
  interrupt(text: string): Promise<Accepted>
  /** Cancels the runs of the thread on the server. Leaving the page does not. */
  stop(): Promise<readonly TaskId[]>
  /** Takes back a prompt that waits. */
  withdraw(task: string): Promise<readonly TaskId[]>
  answer(question: string, answer: unknown): Promise<Question>
  /** Begins again, after an error. */
  retry(): void
}

/** A thread as it is now, and what can be done in it. */
export interface UseThreadResult<Name extends string = string> extends ThreadValue, ThreadActions<Name> {}

/**
 * A thread as a person sees it: what was said, what is being said, and what waits. Takes the names of the server's agents
 * alone if their type is given, as with `useClient`.
 */
export function useThread<Agents extends AnyAgents = AnyAgents>(
  thread: string,
  { agent, initial }: UseThreadOptions<AgentName<Agents>> = {},
): UseThreadResult<AgentName<Agents>> {
  const client = useClient()
  const models = useModels()
  const handle = useMemo(() => models.thread(thread, initial), [models, thread, initial])
  const value = useLive(handle)
  const actions = useMemo(() => actionsIn(client, thread, agent, () => handle.current), [client, thread, agent, handle])
  return useMemo(() => ({ ...value, status: value.error ? 'error' : value.status, ...actions }), [value, actions])
}

function actionsIn(
  client: Client,
  thread: string,
  agent: string | undefined,
  model: () => LiveThread | undefined,
): ThreadActions {
  const send: ThreadActions['send'] = async (prompt, { agent: named = agent, ...options } = {}) => {
    if (named === undefined)
      throw new HoldfastError('invalid_request', 'Say who is asked: useThread(thread, { agent })')
    const asked = typeof prompt === 'string' ? { prompt } : { parts: prompt }
    const accepted = await client.run(thread, { agent: named, ...options, ...asked })
    model()?.take(accepted)
    return accepted
  }
  return {
    send,
    steer: (text) => send(text, { onBusy: 'steer' }),
    interrupt: (text) => send(text, { onBusy: 'interrupt' }),
    stop: () => client.cancelThread(thread),
    withdraw: (task) => client.cancel(task),
    answer: (question, answer) => client.answer(question, answer),
    retry: () => model()?.live.retry(),
  }
}
