// Each peer by its own wire protocol.

import { randomUUID } from 'node:crypto'
import type { Child } from '../../server/child.ts'
import type { Accepted, MakePort, Work } from './port.ts'
import { send, type WireRequest } from './wire.ts'

const lastMark = 'last-of-run'
const one: Work = { kind: 'emit', count: 1 }

const opener = (child: Child) => (gate: string) => child.ask('go', { gate })

const accepting = (request: (id: string, work: Work) => WireRequest) => async (id: string, work: Work) => ({
  id,
  answer: await send(request(id, work)),
})

export const holdfast: MakePort = (url, child) => {
  const headers = { authorization: 'Bearer bench' }
  const events = (id: string, query = '') => ({ url, headers, path: `/v1/threads/${id}/events${query}` })
  const run = (id: string, work: Work) => ({
    url,
    headers,
    path: `/v1/threads/${id}/runs`,
    body: { agent: 'work', input: work },
  })
  return {
    lastMark,
    cancelledMark: '"type":"task.cancelled"',
    accept: accepting(run),
    go: opener(child),
    watch: ({ id }) => events(id),
    // Three events come before a run's own: it is accepted, it is started, and its message is written.
    resume: ({ id }, count) => events(id, `?after=${count / 2 + 3}`),
    cancel: ({ answer }) => ({ url, headers, path: `/v1/tasks/${idOf(answer)}/cancel`, body: {} }),
    first: async (id) => ({ stream: events(id), afterwards: run(id, one) }),
  }
}

function idOf(answer: string): string {
  return (JSON.parse(answer) as { id: string }).id
}

/** A bare server of the other benchmarks, which sends frames that Holdfast sent. Accepting is storing a row, in groups. */
export const bare =
  (mode: 'naive' | 'joined'): MakePort =>
  (url) => {
    const asked = new Map<string, { channel: string; count: number }[]>()
    const going = (channel: string, count: number) => ({ url, path: '/go', body: { channel, mode, count } })
    return {
      lastMark: '"type":"task.completed"',
      async accept(id, work) {
        const { gate, count = 0 } = work
        if (gate !== undefined) asked.set(gate, [...(asked.get(gate) ?? []), { channel: id, count }])
        return { id, answer: await send({ url, path: '/rows', body: work }) }
      },
      go: (gate) => Promise.all((asked.get(gate) ?? []).map(({ channel, count }) => send(going(channel, count)))),
      watch: ({ id }) => ({ url, path: id.startsWith('replayed') ? '/replay' : `/events/${id}` }),
      resume: () => ({ url, path: '/replay/half' }),
      first: async (id) => ({ stream: { url, path: `/events/${id}` }, afterwards: going(id, 0) }),
    }
  }

/** The routes of `servers/sse-host.ts`, which the peers without a server have in common. */
function hosted(url: string) {
  const run = (id: string, work: Work): WireRequest => ({ url, path: `/runs/${id}`, body: work })
  const events = (id: string, after = 0): WireRequest => ({ url, path: `/events/${id}?after=${after}` })
  const streamed = (id: string): WireRequest => ({ url, method: 'POST', path: `/streamed/${id}`, body: one })
  const cancel = ({ id }: Accepted): WireRequest => ({ url, path: `/cancel/${id}`, body: {} })
  return { run, events, streamed, cancel }
}

export const durableStreams: MakePort = async (url, child) => {
  const { run } = hosted(url)
  const streamsUrl = await child.ask<string>('streamsUrl')
  const read = (id: string, offset = '-1') => ({ url: streamsUrl, path: `/${id}?offset=${offset}&live=sse` })
  return {
    lastMark,
    accept: accepting(run),
    go: opener(child),
    watch: ({ id }) => read(id),
    resume: async ({ id }) => read(id, await child.ask<string>('half', { id })),
    async first(id) {
      await child.ask('create', { id })
      return { stream: read(id), afterwards: run(id, one) }
    },
  }
}

export const langgraph: MakePort = (url, child) => {
  const body = (work: Work) => ({
    assistant_id: 'bench',
    input: { work },
    stream_mode: ['custom'],
    stream_resumable: true,
    if_not_exists: 'create',
  })
  const pathOf = ({ answer }: Accepted) => {
    const { thread_id, run_id } = JSON.parse(answer) as { thread_id: string; run_id: string }
    return `/threads/${thread_id}/runs/${run_id}`
  }
  const join = (run: Accepted, after: number): WireRequest => ({
    url,
    path: `${pathOf(run)}/stream`,
    headers: { 'last-event-id': String(after) },
  })
  return {
    lastMark,
    cancelledMark: 'event: error',
    accept: accepting((_id, work) => ({ url, path: `/threads/${randomUUID()}/runs`, body: body(work) })),
    go: opener(child),
    watch: (run) => join(run, -1),
    // Number 0 is the metadata of the run.
    resume: (run, count) => join(run, count / 2),
    cancel: (run) => ({ url, path: `${pathOf(run)}/cancel`, body: {} }),
    first: async () => ({
      stream: { url, method: 'POST', path: `/threads/${randomUUID()}/runs/stream`, body: body(one) },
    }),
  }
}

export const a2a: MakePort = (url, child) => {
  const headers = { 'a2a-version': '1.0' }
  const body = (work: Work) => ({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: JSON.stringify(work) }] },
    configuration: { returnImmediately: true },
  })
  const taskId = ({ answer }: Accepted) => (JSON.parse(answer) as { task: { id: string } }).task.id
  return {
    lastMark,
    cancelledMark: 'TASK_STATE_CANCELED',
    accept: accepting((_id, work) => ({ url, headers, path: '/message:send', body: body(work) })),
    go: opener(child),
    watch: (run) => ({ url, headers, path: `/tasks/${taskId(run)}:subscribe` }),
    cancel: (run) => ({ url, headers, path: `/tasks/${taskId(run)}:cancel`, body: {} }),
    first: async () => ({
      stream: { url, headers, method: 'POST', path: '/message:stream', body: body(one) },
    }),
  }
}

export const dbos: MakePort = (url, child) => {
  const { run, events, streamed, cancel } = hosted(url)
  return {
    lastMark,
    accept: accepting(run),
    go: opener(child),
    watch: ({ id }) => events(id),
    resume: ({ id }, count) => events(id, count / 2),
    cancel,
    first: async (id) => ({ stream: streamed(id) }),
  }
}

export const bullmq: MakePort = (url, child) => {
  const { run, events, cancel } = hosted(url)
  return {
    lastMark,
    cancelledMark: '"end":"failed"',
    accept: accepting(run),
    go: opener(child),
    watch: ({ id }) => events(id),
    cancel,
    first: async (id) => ({ stream: events(id), afterwards: run(id, one) }),
  }
}

export const resumableStream: MakePort = (url, child) => {
  const { run, events, streamed } = hosted(url)
  const frameLength = `data: ${JSON.stringify({ name: 'tick', payload: 'x'.repeat(273) })}\n\n`.length
  return {
    lastMark,
    accept: accepting(run),
    go: opener(child),
    watch: ({ id }) => events(id),
    // It counts characters.
    resume: ({ id }, count) => events(id, (count / 2) * frameLength),
    first: async (id) => ({ stream: streamed(id) }),
  }
}
