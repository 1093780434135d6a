import type { Operation } from './document.ts'

/** A request that a reader can try, with the names that the other pages use. */
export interface Example {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
}

const samples: Readonly<Record<string, string>> = { thread: 'demo', id: 'bg_0' }

const bodies: Readonly<Record<string, object>> = {
  postThreadsThreadRuns: { agent: 'echo', prompt: 'hello' },
  postThreadsThreadTasks: { agent: 'echo', prompt: 'hello', description: 'Says it back' },
  postThreadsThreadCancel: { reason: 'No longer needed' },
  postTasksIdCancel: { reason: 'No longer needed' },
  postTasksIdMessages: { content: 'Be brief' },
  postThreadsThreadResultsCollect: { tasks: ['bg_0'] },
  postQuestionsIdAnswer: { answer: 'A colleague' },
  postPrune: { eventsMs: 2_592_000_000, dryRun: true },
  postLogin: { token: 'the token' },
}

/** What a question is known by, which is not what a task is. */
const questionId = 'q_1'

const streamed = new Set(['getThreadsThreadEvents', 'getEvents'])

/** The shortest request of an operation that does something. */
export function exampleOf(method: string, path: string, operation: Operation): Example {
  const body = bodies[operation.operationId]
  return {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      path.startsWith('/v1/questions') ? questionId : (samples[name] ?? name),
    ),
    headers: {
      ...(operation.security.length > 0 && { Authorization: 'Bearer $TOKEN' }),
      ...(streamed.has(operation.operationId) && { Accept: 'text/event-stream' }),
    },
    ...(body && { body }),
  }
}

/** The example as a command, against a server on this machine. */
export function curlOf({ method, path, headers, body }: Example): string {
  const isStream = headers['Accept'] === 'text/event-stream'
  const isImplied = method === (body ? 'POST' : 'GET')
  const parts = [
    `curl -fsS${isStream ? 'N' : ''}`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...(isImplied ? [] : [`-X ${method}`]),
    ...(body ? [`-d '${JSON.stringify(body)}'`] : []),
    `http://127.0.0.1:4747${path}`,
  ]
  const line = parts.join(' ')
  return line.length < 90 ? line : parts.join(' \\\n  ')
}
