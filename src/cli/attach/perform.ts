import type { Accepted, Client, ThreadView } from '../../client/index.ts'
import { type Order, orderHelp } from './order.ts'
import { agentOf, workOf } from './thread-status.ts'

/** The thread that is talked to, as it stands. */
export interface Conversation {
  readonly client: Client
  readonly thread: string
  readonly view: ThreadView
  /** The task that is meant, if one was named. */
  readonly task?: string | undefined
  readonly agent?: string | undefined
  /** What a command begins with that is to be copied. */
  readonly start: string
  readonly signal: AbortSignal
}

export interface Performed {
  /** What to tell the person. What happens in the thread is seen in its log. */
  readonly notes: readonly string[]
  readonly accepted?: Accepted
}

/** To detach is up to the terminal. */
type Doable = Exclude<Order, { do: 'detach' }>

/** Does what a line asked for. Rejects with what the server refuses. */
export async function perform(order: Doable, conversation: Conversation): Promise<Performed> {
  switch (order.do) {
    case 'nothing':
      return { notes: [] }
    case 'help':
      return { notes: orderHelp }
    case 'refuse':
      return { notes: [order.message] }
    case 'say':
      return say(order, conversation)
    case 'cancel':
      return cancel(order.reason, conversation)
    case 'answer':
      return answer(order, conversation)
  }
}

async function say(order: Extract<Order, { do: 'say' }>, conversation: Conversation): Promise<Performed> {
  const { client, thread, view, start, signal } = conversation
  const agent = conversation.agent ?? agentOf(view)
  if (agent === undefined) {
    return { notes: [`No run was in ${thread} yet; say who answers: ${start} attach ${thread} --agent NAME`] }
  }
  // On a thread where no run is live, to steer means to ask for one.
  const onBusy = order.how === 'auto' ? 'steer' : order.how
  const accepted = await client.run(thread, { agent, prompt: order.text, onBusy, signal })
  const { id, status, position = 0, steered } = accepted
  const isWaiting = status === 'pending' && steered === undefined && workOf(view) !== undefined
  const before = position > 0 ? `, ${position} before it` : ''
  return { accepted, notes: isWaiting ? [`${id} is queued${before}`] : [] }
}

async function cancel(reason: string | undefined, { client, view, task, signal }: Conversation): Promise<Performed> {
  const work = workOf(view, task)
  if (!work) return { notes: ['Nothing is live here'] }
  await client.cancel(work.id, { signal, ...(reason !== undefined && { reason }) })
  return { notes: [] }
}

async function answer(
  order: Extract<Order, { do: 'answer' }>,
  { client, view, signal }: Conversation,
): Promise<Performed> {
  const id = order.question ?? view.questions[0]?.id
  if (id === undefined) return { notes: ['No question is open here'] }
  await client.answer(id, order.text, { signal })
  return { notes: [] }
}
