import { idempotencyKey, type Names } from './harness/world.ts'

/**
 * What a principal gets for what another one has:
 * - `missing`: 404, byte for byte as for an id that nobody has.
 * - `own`: what it has itself under that thread id, as in a thread that nobody else uses.
 * - `mine`: something that names nothing of anybody, or lists what it has itself.
 */
export type Sight = 'missing' | 'own' | 'mine'

/** A way to ask a route. */
export interface Way {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly sight: Sight
  /** What a stream has to bring before it is left. */
  readonly until?: string
}

export interface RouteRow {
  /** Anybody may ask. */
  readonly isOpen?: true
  readonly ways: (names: Names) => readonly Way[]
}

const sse = { accept: 'text/event-stream' }
const ndjson = { accept: 'application/x-ndjson' }
const accepting = { agent: 'echo', prompt: 'of bob' }

const common = (path: string): RouteRow => ({ ways: () => [{ path, sight: 'mine' }] })

/** Every way in which the log can be asked for. */
function logWays({ thread, task }: Names): readonly Way[] {
  const path = `/v1/threads/${thread}/events`
  const forms = [{}, sse, ndjson]
  return forms.flatMap((headers): readonly Way[] => [
    { path, headers, sight: 'own', until: 'task.completed' },
    { path: `${path}?after=2&types=task.completed`, headers, sight: 'own', until: 'task.completed' },
    { path: `${path}?after=999`, headers, sight: 'own' },
    { path, headers: { ...headers, 'last-event-id': '999' }, sight: 'own' },
    { path: `${path}?task=${task}`, headers, sight: 'missing' },
    { path: `${path}?task=${task}&after=1&types=custom`, headers, sight: 'missing' },
  ])
}

/** One row for every route of the router, by its method and path; the tests fail for a route that has none. */
export const routeTable: Readonly<Record<string, RouteRow>> = {
  'POST /v1/threads/:thread/runs': {
    ways: ({ thread }) => [
      { path: `/v1/threads/${thread}/runs`, body: accepting, sight: 'own' },
      { path: `/v1/threads/${thread}/runs`, body: { ...accepting, onBusy: 'interrupt' }, sight: 'own' },
      { path: `/v1/threads/${thread}/runs`, body: { ...accepting, onBusy: 'steer' }, sight: 'own' },
    ],
  },
  'POST /v1/threads/:thread/tasks': {
    ways: ({ thread, task }) => [
      { path: `/v1/threads/${thread}/tasks`, body: accepting, sight: 'own' },
      { path: `/v1/threads/${thread}/tasks`, body: { ...accepting, name: 'child' }, sight: 'own' },
      { path: `/v1/threads/${thread}/tasks`, body: { ...accepting, parent: task }, sight: 'missing' },
    ],
  },
  'GET /v1/threads': {
    ways: ({ threadsCursor }) => [
      { path: '/v1/threads?limit=1000', sight: 'mine' },
      { path: `/v1/threads?cursor=${encodeURIComponent(threadsCursor)}`, sight: 'mine' },
    ],
  },
  'GET /v1/threads/:thread': { ways: ({ thread }) => [{ path: `/v1/threads/${thread}`, sight: 'own' }] },
  'DELETE /v1/threads/:thread': { ways: ({ thread }) => [{ path: `/v1/threads/${thread}`, sight: 'own' }] },
  'GET /v1/threads/:thread/messages': {
    ways: ({ thread }) => [
      { path: `/v1/threads/${thread}/messages`, sight: 'own' },
      { path: `/v1/threads/${thread}/messages?after=2&limit=1`, sight: 'own' },
    ],
  },
  'GET /v1/threads/:thread/events': { ways: logWays },
  'POST /v1/threads/:thread/cancel': {
    ways: ({ thread }) => [
      { path: `/v1/threads/${thread}/cancel`, body: {}, sight: 'own' },
      { path: `/v1/threads/${thread}/cancel`, body: { scope: 'all' }, sight: 'own' },
    ],
  },
  'GET /v1/threads/:thread/results': {
    ways: ({ thread }) => [{ path: `/v1/threads/${thread}/results`, sight: 'own' }],
  },
  'POST /v1/threads/:thread/results/collect': {
    ways: ({ thread, task }) => [
      { path: `/v1/threads/${thread}/results/collect`, body: { tasks: [task] }, sight: 'own' },
    ],
  },
  'GET /v1/tasks': {
    ways: ({ thread, task, tasksCursor }) => [
      { path: '/v1/tasks?limit=1000', sight: 'mine' },
      { path: `/v1/tasks?cursor=${encodeURIComponent(tasksCursor)}`, sight: 'mine' },
      { path: `/v1/tasks?thread=${thread}&status=completed`, sight: 'own' },
      { path: `/v1/tasks?parent=${task}`, sight: 'mine' },
      { path: '/v1/tasks?name=child&roots=false', sight: 'mine' },
    ],
  },
  'GET /v1/tasks/:id': { ways: ({ task }) => [{ path: `/v1/tasks/${task}`, sight: 'missing' }] },
  'POST /v1/tasks/:id/cancel': {
    ways: ({ task }) => [
      { path: `/v1/tasks/${task}/cancel`, body: {}, sight: 'missing' },
      { path: `/v1/tasks/${task}/cancel`, body: { tree: false, reason: 'mine now' }, sight: 'missing' },
    ],
  },
  'POST /v1/tasks/:id/messages': {
    ways: ({ task }) => [{ path: `/v1/tasks/${task}/messages`, body: { content: 'hello' }, sight: 'missing' }],
  },
  'GET /v1/questions': {
    ways: ({ thread }) => [
      { path: '/v1/questions', sight: 'mine' },
      { path: `/v1/questions?thread=${thread}`, sight: 'own' },
    ],
  },
  'POST /v1/questions/:id/answer': {
    ways: ({ question, task }) => [
      { path: `/v1/questions/${question}/answer`, body: { answer: 'yes' }, sight: 'missing' },
      { path: `/v1/questions/${task}/answer`, body: { answer: 'yes' }, sight: 'missing' },
    ],
  },
  'POST /v1/prune': {
    ways: ({ threadsCursor }) => [
      { path: '/v1/prune', body: { eventsPerThread: 1, threadsMs: 1 }, sight: 'mine' },
      { path: '/v1/prune', body: { eventsPerThread: 1, dryRun: true, cursor: threadsCursor }, sight: 'mine' },
    ],
  },
  // It replays nothing: what it brings while something happens is looked at by a test of its own.
  'GET /v1/events': { ways: () => [{ path: '/v1/events', headers: sse, sight: 'mine' }] },
  'GET /v1/agents': common('/v1/agents'),
  'GET /v1/limits': common('/v1/limits'),
  'GET /metrics': common('/metrics'),
  'GET /openapi.json': common('/openapi.json'),
  'GET /healthz': { isOpen: true, ...common('/healthz') },
  'GET /readyz': { isOpen: true, ...common('/readyz') },
  'POST /v1/login': {
    isOpen: true,
    ways: () => [{ path: '/v1/login', body: { token: 'wrong' }, sight: 'mine' }],
  },
  'POST /v1/logout': { ways: () => [{ path: '/v1/logout', body: {}, sight: 'mine' }] },
  // Static files, in which there is nothing but the program.
  'GET /console': { isOpen: true, ...common('/console') },
  'GET /console/*': { isOpen: true, ...common('/console/threads/shared') },
  // The upgrade itself is in the table of frames; this is what a plain request for it gets.
  'GET /v1/ws': common('/v1/ws'),
}

/** The method and path of a row. */
export function partsOf(route: string): { readonly method: string; readonly pattern: string } {
  const [method = '', pattern = ''] = route.split(' ')
  return { method, pattern }
}

export const withKeyOfAlice = { 'idempotency-key': idempotencyKey }
