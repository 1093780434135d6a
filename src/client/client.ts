import { terminalTypes } from '../core/event.ts'
import type { AgentName, AnyAgents, Ask, InputOf, ResultOf, TaskOf } from '../core/known-agents.ts'
import { isTerminal } from '../core/status.ts'
import type { CustomOf } from './agents.ts'
import type {
  Accepted,
  AttachOptions,
  CallOptions,
  EndedTask,
  FirehoseOptions,
  RunOptions,
  SpawnOptions,
} from './asks.ts'
import { type Calls, createCalls } from './calls.ts'
import type { Connection } from './connection.ts'
import type { AttachItem, FirehoseItem } from './thread-event.ts'
import { type ClientOptions, closed, Transport } from './transport.ts'

/** A thread of the principal, and what can be done in it. */
export interface ThreadHandle<Agents extends AnyAgents = AnyAgents> {
  readonly id: string
  /**
   * The thread's log as it grows, over as many connections as it takes: each number once and in order. Without `after` it
   * begins with a snapshot. Leaving the loop only detaches.
   */
  attach(options?: AttachOptions): AsyncIterableIterator<AttachItem<CustomOf<Agents>>, undefined>
  run<Name extends AgentName<Agents>>(
    options: RunOptions<Name> & Ask<InputOf<Agents[Name]>>,
  ): Promise<Accepted<ResultOf<Agents[Name]>>>
  spawn<Name extends AgentName<Agents>>(
    options: SpawnOptions<Name> & Ask<InputOf<Agents[Name]>>,
  ): Promise<Accepted<ResultOf<Agents[Name]>>>
  snapshot(...given: Rest<Calls<Agents>['snapshot']>): ReturnType<Calls<Agents>['snapshot']>
  messages(...given: Rest<Calls<Agents>['messages']>): ReturnType<Calls<Agents>['messages']>
  events(...given: Rest<Calls<Agents>['events']>): ReturnType<Calls<Agents>['events']>
  results(...given: Rest<Calls<Agents>['results']>): ReturnType<Calls<Agents>['results']>
  collect(...given: Rest<Calls<Agents>['collect']>): ReturnType<Calls<Agents>['collect']>
  cancel(...given: Rest<Calls<Agents>['cancelThread']>): ReturnType<Calls<Agents>['cancelThread']>
  delete(...given: Rest<Calls<Agents>['deleteThread']>): ReturnType<Calls<Agents>['deleteThread']>
}

type Rest<Call extends (...given: never) => unknown> =
  Parameters<Call> extends [string, ...infer Others] ? Others : never

/** Everything that a server can be asked, and what it tells by itself. */
export interface Client<Agents extends AnyAgents = AnyAgents> extends Calls<Agents> {
  thread(id: string): ThreadHandle<Agents>
  /** Waits until a task has ended, however it ends and however often the connection breaks. */
  wait<Result = unknown>(task: string | TaskOf<Result>, options?: CallOptions): Promise<EndedTask<Result>>
  /** The live events of all threads, without a replay. */
  firehose(options?: FirehoseOptions): AsyncIterableIterator<FirehoseItem<CustomOf<Agents>>, undefined>
  /** Whether the server is heard. */
  readonly connection: Connection
  /** Detaches everything and lets go of all connections. No task notices. */
  close(): void
}

/** A client of one server, for one principal. */
export function createClient<Agents extends AnyAgents = AnyAgents>(options: ClientOptions): Client<Agents> {
  const transport = new Transport(options)
  const calls = createCalls<Agents>(transport.http)
  type Custom = CustomOf<Agents>
  const attach: Attach<Agents> = (thread, wanted) =>
    transport.attach({ ...wanted, thread }) as AsyncIterableIterator<AttachItem<Custom>, undefined>
  return {
    ...calls,
    thread: (id) => threadHandle(id, calls, attach),
    wait: (task, asked) => wait(calls, attach, task, asked),
    firehose: (asked = {}) => transport.attach(asked) as AsyncIterableIterator<FirehoseItem<Custom>, undefined>,
    connection: transport.monitor,
    close: () => transport.close(),
  }
}

type Attach<Agents extends AnyAgents> = (
  thread: string,
  options?: AttachOptions,
) => AsyncIterableIterator<AttachItem<CustomOf<Agents>>, undefined>

async function wait<Agents extends AnyAgents, Result>(
  calls: Calls<Agents>,
  attach: Attach<Agents>,
  given: string | TaskOf<Result>,
  asked: CallOptions = {},
): Promise<EndedTask<Result>> {
  const task = typeof given === 'string' ? await calls.get(given, asked) : given
  if (!isTerminal(task.status)) {
    const log = attach(task.thread, { ...asked, task: task.id, after: task.seq, types: terminalTypes })
    while (!(await log.next()).done);
    asked.signal?.throwIfAborted()
  }
  // What is too large for an event is in the task.
  const ended = await calls.get(task.id, asked)
  if (!isTerminal(ended.status)) throw closed()
  return ended as EndedTask<Result>
}

function threadHandle<Agents extends AnyAgents>(
  id: string,
  calls: Calls<Agents>,
  attach: Attach<Agents>,
): ThreadHandle<Agents> {
  return {
    id,
    attach: (options) => attach(id, options),
    run: (options) => calls.run(id, options),
    spawn: (options) => calls.spawn(id, options),
    snapshot: (options) => calls.snapshot(id, options),
    messages: (options) => calls.messages(id, options),
    events: (options) => calls.events(id, options),
    results: (options) => calls.results(id, options),
    collect: (tasks, options) => calls.collect(id, tasks, options),
    cancel: (options) => calls.cancelThread(id, options),
    delete: (options) => calls.deleteThread(id, options),
  }
}
