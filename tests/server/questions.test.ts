import { expect, it, onTestFinished } from 'vitest'
import { createClient, createThreadView, reduceView } from '../../src/client/index.ts'
import type { Event } from '../../src/core/event.ts'
import type { Question } from '../../src/core/question.ts'
import { connect, expectStatus, isEndOf, type Transport, transports, watch } from './harness/client.ts'
import { freshThread, onEachServer, onSharedServer } from './harness/on-each-server.ts'
import { logOf, read, scriptRun, snapshotOf, taskOf } from './harness/reads.ts'
import { Refused } from './harness/refused.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

interface Asked {
  readonly thread: string
  readonly task: string
  readonly question: Question
}

/** A run of alice that asks and waits. */
async function asking(server: TestServer, question: object, thread = freshThread()): Promise<Asked> {
  const client = await connect('sse', server)
  const run = await client.run(thread, scriptRun([{ say: 'so ' }, { ask: question }, { say: 'it is' }]))
  const watcher = await client.watch({ thread, task: run.id })
  const asked = (await watcher.until(({ type }) => type === 'question.asked')).at(-1)
  watcher.close()
  if (asked?.type !== 'question.asked') throw new Error('Nothing was asked')
  return { thread, task: run.id, question: asked.data.question }
}

async function answer(transport: Transport, server: TestServer, id: string, given: unknown): Promise<Question> {
  const path = `/v1/questions/${id}/answer`
  if (transport === 'sse') return expectStatus(200, server.request<Question>('POST', path, { body: { answer: given } }))
  const socket = await Socket.open(server)
  try {
    const frame = await socket.ask({ type: 'answer', question: id, answer: given })
    expect(frame).toMatchObject({ type: 'answered' })
    return frame['question'] as Question
  } finally {
    socket.drop()
  }
}

async function openIn(server: TestServer, query = ''): Promise<readonly Question[]> {
  return (await read<{ questions: Question[] }>(server, `/v1/questions${query}`)).questions
}

async function logAtEnd(server: TestServer, { thread, task }: Asked): Promise<Event[]> {
  await (await watch('sse', server, { thread, task })).ended
  return logOf(server, thread)
}

onSharedServer(['memory', 'sqlite'], (_kind, server) => {
  it.for(transports)('a question is listed, shown and answered, and its run goes on, over %s', async (transport) => {
    const options = ['left', 'right']
    const asked = await asking(server(), { text: 'Which way?', options, timeoutMs: 600_000, default: 'left' })
    const { thread, task, question } = asked
    expect(question).toMatchObject({ thread, task, text: 'Which way?', options, default: 'left' })
    expect((question.expiresAt ?? 0) - question.askedAt).toBeGreaterThan(599_000)
    expect(await openIn(server(), `?thread=${thread}`)).toEqual([question])
    expect(await openIn(server())).toContainEqual(question)
    expect((await snapshotOf(server(), thread)).questions).toEqual([question])
    const answered = await answer(transport, server(), question.id, 'right')
    expect(answered).toEqual({ ...question, answer: 'right', by: 'alice', answeredAt: expect.any(Number) })
    const log = await logAtEnd(server(), asked)
    expect(log.map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'text.delta',
      'question.asked',
      'question.answered',
      'custom',
      'text.delta',
      'message.created',
      'task.completed',
    ])
    const given = { answer: 'right', by: 'alice' }
    expect(log[5]?.data).toEqual({ id: question.id, ...given })
    expect(log[6]?.data).toEqual({ name: 'answered', payload: given })
    expect(await openIn(server(), `?thread=${thread}`)).toEqual([])
    expect((await snapshotOf(server(), thread)).questions).toEqual([])
  })

  it.for(transports)('a watcher over %s sees a question and its answer once each, in order', async (transport) => {
    const thread = freshThread()
    const watcher = await watch(transport, server(), { thread })
    const asked = await asking(server(), { text: 'Which way?' }, thread)
    await answer(transport, server(), asked.question.id, { any: ['json', null] })
    await watcher.until(isEndOf(asked.task))
    expect(watcher.events).toEqual(await logOf(server(), thread))
    watcher.close()
    const filtered = await watch(transport, server(), {
      thread,
      task: asked.task,
      types: 'question.asked,question.answered',
    })
    await filtered.ended
    expect(filtered.events.map(({ type }) => type)).toEqual(['question.asked', 'question.answered', 'task.completed'])
  })

  it.for(transports)('what is refused leaves the question open, over %s', async (transport) => {
    const { question, thread } = await asking(server(), { text: 'Which way?', options: ['left'] })
    for (const wrong of ['Left', null, ['left'], 0]) {
      const refused = answer(transport, server(), question.id, wrong)
      await expect(refused).rejects.toMatchObject({ code: 'invalid_input', status: 422 })
    }
    const path = `/v1/questions/${question.id}/answer`
    for (const body of [{}, { answer: 'left', by: 'bob' }, []]) {
      expect((await server().request('POST', path, { body })).status).toBe(400)
    }
    expect((await server().request('GET', '/v1/questions?thread=a/b')).status).toBe(400)
    expect(await openIn(server(), `?thread=${thread}`)).toEqual([question])
    await answer(transport, server(), question.id, 'left')
  })

  it.for(transports)('a second answer is 409 with the first, whoever gives it, over %s', async (transport) => {
    const asked = await asking(server(), { text: 'Which way?' })
    const { id } = asked.question
    const { answeredAt } = await answer('sse', server(), id, 'first')
    const problem = { code: 'already_answered', status: 409, answer: 'first', by: 'alice', answeredAt }
    const again = () => answer(transport, server(), id, 'second')
    await expect(again()).rejects.toMatchObject({ problem })
    await logAtEnd(server(), asked)
    await expect(again()).rejects.toMatchObject({ problem })
  })

  it.for(transports)('an answer to a question that was closed is 409 with the status, over %s', async (transport) => {
    const asked = await asking(server(), { text: 'Which way?' })
    await (await connect(transport, server())).cancel(asked.thread)
    const log = await logAtEnd(server(), asked)
    expect(log.map(({ type }) => type).slice(-3)).toEqual(['question.closed', 'message.created', 'task.cancelled'])
    const problem = { code: 'task_terminated', status: 409, taskStatus: 'cancelled' }
    await expect(answer(transport, server(), asked.question.id, 1)).rejects.toMatchObject({ problem })
  })

  it('a question expires by its default, or is closed and fails its script', async () => {
    const kept = await asking(server(), { text: 'Which way?', timeoutMs: 1, default: { left: 1 } })
    const log = await logAtEnd(server(), kept)
    const given = { answer: { left: 1 }, by: 'timeout' }
    expect(log.find(({ type }) => type === 'question.answered')?.data).toEqual({ id: kept.question.id, ...given })
    expect(log.find(({ type }) => type === 'custom')?.data).toEqual({ name: 'answered', payload: given })
    const closed = await asking(server(), { text: 'Which way?', timeoutMs: 1 })
    const end = { id: closed.question.id, reason: 'timeout' }
    expect((await logAtEnd(server(), closed)).find(({ type }) => type === 'question.closed')?.data).toEqual(end)
    expect(await taskOf(server(), closed.task)).toMatchObject({ status: 'failed', error: { code: 'agent_error' } })
  })

  it('of twenty clients that answer at once one is heard, and the others are told its answer', async () => {
    const asked = await asking(server(), { text: 'Which way?' })
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => answer(n % 2 === 0 ? 'sse' : 'ws', server(), asked.question.id, n)),
    )
    const [first, ...more] = answers.flatMap((given) => (given.status === 'fulfilled' ? [given.value.answer] : []))
    expect(more).toEqual([])
    for (const given of answers) {
      if (given.status === 'fulfilled') continue
      expect(given.reason).toMatchObject({ problem: { code: 'already_answered', answer: first } })
    }
    const log = await logAtEnd(server(), asked)
    expect(log.filter(({ type }) => type === 'question.answered')).toHaveLength(1)
    expect(log.find(({ type }) => type === 'custom')?.data).toMatchObject({ payload: { answer: first } })
  })

  it('OWN-04 another principal is answered byte for byte as for a question that does not exist', async () => {
    const { thread, task, question } = await asking(server(), { text: 'secret', options: ['yes'] })
    const socket = await Socket.open(server(), 'bob')
    const answers: unknown[] = []
    for (const id of ['q_00000000000000000000', question.id]) {
      for (const given of ['yes', 'no option']) {
        const headers = { 'x-request-id': 'the-same' }
        const options = { as: 'bob', headers, body: { answer: given } }
        const { status, text } = await server().request('POST', `/v1/questions/${id}/answer`, options)
        const { problem } = await socket.ask({ type: 'answer', question: id, answer: given }).then(
          () => Promise.reject(new Error('The answer was not refused')),
          (refused: Refused) => refused,
        )
        expect({ status, code: problem.code }).toEqual({ status: 404, code: 'not_found' })
        answers.push([text, JSON.stringify({ ...problem, requestId: 'the-same' })])
      }
    }
    expect(new Set(answers.map((given) => JSON.stringify(given))).size).toBe(1)
    const listed = await server().request('GET', '/v1/questions', { as: 'bob' })
    expect(listed.text).not.toContain('secret')
    const ofThread = await server().request('GET', `/v1/questions?thread=${thread}`, { as: 'bob' })
    expect(ofThread.body).toEqual({ questions: [] })
    expect(await taskOf(server(), task)).toMatchObject({ status: 'running' })
    expect(await openIn(server(), `?thread=${thread}`)).toEqual([question])
    socket.drop()
    await answer('sse', server(), question.id, 'yes')
  })

  it.for(['websocket', 'sse'] as const)('a client follows and answers a question, over %s', async (transport) => {
    const thread = freshThread()
    const client = createClient({ url: server().url, token: server().tokens['alice'] ?? '', transport })
    onTestFinished(() => client.close())
    const run = await client.run(thread, scriptRun([{ ask: { text: 'Which way?', options: ['left'] } }]))
    const shown: string[] = []
    let view = createThreadView()
    for await (const item of client.thread(thread).attach()) {
      view = reduceView(view, item)
      const texts = view.questions.map(({ text }) => text).join()
      if (texts !== shown.at(-1)) shown.push(texts)
      const [question] = view.questions
      if (item.type === 'question.asked') expect(await client.questions({ thread })).toEqual([question])
      if (item.type === 'question.asked' || (item.type === 'snapshot' && question)) {
        await client.answer(question?.id ?? '', 'left')
        await expect(client.answer(question?.id ?? '', 'left')).rejects.toMatchObject({
          code: 'already_answered',
          facts: { answer: 'left', by: 'alice' },
        })
      }
      if (item.type === 'task.completed') break
    }
    expect(shown.filter((texts) => texts !== '')).toEqual(['Which way?'])
    expect(view.questions).toEqual([])
    expect(await client.get(run.id)).toMatchObject({ status: 'completed' })
  })

  it('a deleted thread has no questions any more', async () => {
    const { thread, question } = await asking(server(), { text: 'Which way?' })
    expect((await server().request('DELETE', `/v1/threads/${thread}`)).status).toBe(204)
    expect(await openIn(server(), `?thread=${thread}`)).toEqual([])
    await expect(answer('sse', server(), question.id, 1)).rejects.toBeInstanceOf(Refused)
    await expect(answer('ws', server(), question.id, 1)).rejects.toMatchObject({ code: 'not_found' })
  })
})

onEachServer(['sqlite'], (_kind, start) => {
  it.for(transports)(
    'REST-15 an open question survives kill -9 and is answered after it, over %s',
    async (transport) => {
      const server = await start()
      const asked = await asking(server, { text: 'Which way?', options: ['left', 'right'], timeoutMs: 600_000 }, 't')
      await server.restart()
      expect(await openIn(server)).toEqual([asked.question])
      expect((await snapshotOf(server, 't')).questions).toEqual([asked.question])
      await answer(transport, server, asked.question.id, 'left')
      const log = await logAtEnd(server, asked)
      expect(log.filter(({ type }) => type.startsWith('question.')).map(({ type }) => type)).toEqual([
        'question.asked',
        'question.answered',
      ])
      expect(log.filter(({ type }) => type === 'task.resumed')).toHaveLength(1)
      expect(await taskOf(server, asked.task)).toMatchObject({ status: 'completed', result: { said: 'so it is' } })
    },
  )

  it('an answer that was acknowledged is read by the run, though the server is killed at once', async () => {
    const server = await start()
    const asked = await asking(server, { text: 'Which way?' }, 't')
    await answer('sse', server, asked.question.id, 'left')
    await server.restart()
    const log = await logAtEnd(server, asked)
    const heard = log.flatMap((event) => (event.type === 'custom' ? [event.data.payload] : []))
    expect(heard.at(-1)).toEqual({ answer: 'left', by: 'alice' })
    expect(log.filter(({ type }) => type === 'question.answered')).toHaveLength(1)
    await expect(answer('sse', server, asked.question.id, 'right')).rejects.toMatchObject({
      problem: { code: 'already_answered', answer: 'left' },
    })
  })
})
