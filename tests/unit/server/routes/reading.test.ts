import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as answers from '../../../../src/protocol/schemas/answers.ts'
import { openSite, type TestSite } from '../site.ts'

async function spoken(site: TestSite, thread: string, prompt: string): Promise<string> {
  const answer = await site.ask('POST', `/v1/threads/${thread}/runs`, { body: { agent: 'echo', prompt } })
  const id = String(answer.body['id'])
  await site.runtime.as('alice').wait(id)
  return id
}

describe('threads', () => {
  it('read as empty before they are used', async () => {
    const site = await openSite()
    const answer = await site.ask('GET', '/v1/threads/never')
    const body = { thread: 'never', head: 0, first: 1, watchers: 0, messages: [], tasks: [], live: [], questions: [] }
    expect(answer).toMatchObject({ status: 200, body })
  })

  it('read as they are at their head', async () => {
    const site = await openSite()
    const id = await spoken(site, 't', 'Hello')
    const { body } = await site.ask('GET', '/v1/threads/t')
    expect(z.strictObject(answers.threadSnapshot.shape).parse(body)).toMatchObject({ thread: 't', tasks: [{ id }] })
    expect(body['messages']).toMatchObject([{ role: 'user' }, { role: 'assistant', finish: 'end_turn' }])
  })

  it('are listed in pages, each principal its own', async () => {
    const site = await openSite()
    for (const thread of ['a', 'b', 'c']) await spoken(site, thread, 'x')
    const first = await site.ask('GET', '/v1/threads?limit=2')
    expect(answers.threadList.parse(first.body).threads.map(({ thread }) => thread)).toEqual(['c', 'b'])
    const cursor = encodeURIComponent(String(first.body['cursor']))
    const second = await site.ask('GET', `/v1/threads?limit=2&cursor=${cursor}`)
    expect(second.body).toMatchObject({ threads: [{ thread: 'a' }] })
    expect(second.body).not.toHaveProperty('cursor')
    expect((await site.ask('GET', '/v1/threads', { as: 'bob' })).body).toEqual({ threads: [] })
  })

  it('give their messages after a number, in pages', async () => {
    const site = await openSite()
    await spoken(site, 't', 'one')
    await spoken(site, 't', 'two')
    const seen: unknown[] = []
    let after: unknown = 0
    for (; after !== undefined; ) {
      const { body } = await site.ask('GET', `/v1/threads/t/messages?limit=1&after=${String(after)}`)
      const page = answers.messageList.parse(body)
      seen.push(...page.messages.map(({ parts }) => parts[0]))
      after = page.cursor
    }
    expect(seen).toEqual(['one', 'one', 'two', 'two'].map((text) => ({ type: 'text', text })))
  })

  it('are gone once deleted', async () => {
    const site = await openSite()
    const id = await spoken(site, 't', 'Hello')
    const { head } = (await site.ask('GET', '/v1/threads/t')).body
    const deleted = await site.ask('DELETE', '/v1/threads/t')
    expect(deleted).toMatchObject({ status: 204, text: '' })
    expect((await site.ask('GET', `/v1/tasks/${id}`)).status).toBe(404)
    expect((await site.ask('GET', '/v1/threads/t')).body).toMatchObject({ tasks: [], messages: [] })
    expect(Number((await site.ask('GET', '/v1/threads/t')).body['head'])).toBeGreaterThanOrEqual(Number(head))
  })
})

describe('tasks', () => {
  it('are read one by one and listed newest first', async () => {
    const site = await openSite()
    const ids = [await spoken(site, 't', 'a'), await spoken(site, 'u', 'b')]
    expect((await site.ask('GET', `/v1/tasks/${ids[0]}`)).body).toMatchObject({ id: ids[0], status: 'completed' })
    const list = await site.ask('GET', '/v1/tasks')
    expect(answers.taskList.parse(list.body).tasks.map(({ id }) => id)).toEqual(ids.toReversed())
    const narrowed = await site.ask('GET', '/v1/tasks?thread=t&status=completed&type=run')
    expect(answers.taskList.parse(narrowed.body).tasks.map(({ id }) => id)).toEqual([ids[0]])
    expect((await site.ask('GET', '/v1/tasks?status=failed')).body).toEqual({ tasks: [] })
    expect((await site.ask('GET', '/v1/tasks?thread=t&status=failed,completed')).body).toEqual(
      (await site.ask('GET', '/v1/tasks?thread=t&status=completed')).body,
    )
    expect((await site.ask('GET', '/v1/tasks?status=failed,over')).status).toBe(400)
    expect((await site.ask('GET', '/v1/tasks?name=nobody&parent=bg_77')).body).toEqual({ tasks: [] })
  })

  it('are listed without those that a task spawned, if only roots are asked for', async () => {
    const site = await openSite()
    const body = { agent: 'held', prompt: 'x' }
    const { body: root } = await site.ask('POST', '/v1/threads/t/tasks', { body })
    const { body: child } = await site.ask('POST', '/v1/threads/t/tasks', { body: { ...body, parent: root['id'] } })
    const ids = async (query: string) =>
      answers.taskList.parse((await site.ask('GET', `/v1/tasks?${query}`)).body).tasks.map(({ id }) => id)
    expect(await ids('roots=true')).toEqual([root['id']])
    expect(await ids('roots=false')).toEqual([child['id'], root['id']])
    expect((await site.ask('GET', '/v1/tasks?roots=1')).status).toBe(400)
  })
})

describe('results', () => {
  it('are read without being taken, and taken once', async () => {
    const site = await openSite()
    const { body: task } = await site.ask('POST', '/v1/threads/t/tasks', { body: { agent: 'echo', prompt: 'x' } })
    const id = String(task['id'])
    await site.runtime.as('alice').wait(id)
    for (const _ of [1, 2]) {
      const { body } = await site.ask('GET', '/v1/threads/t/results')
      expect(answers.resultList.parse(body)).toEqual({
        results: [{ task: id, status: 'completed', answer: 'x' }],
        running: 0,
      })
    }
    const collect = () => site.ask('POST', '/v1/threads/t/results/collect', { body: { tasks: [id, 'bg_99', id] } })
    expect(await collect()).toMatchObject({ status: 200, body: { collected: [id] } })
    expect(await collect()).toMatchObject({ status: 200, body: { collected: [] } })
  })
})

describe('questions', () => {
  it('are none yet, and none can be answered', async () => {
    const site = await openSite()
    expect((await site.ask('GET', '/v1/questions?thread=t')).body).toEqual({ questions: [] })
    const path = '/v1/questions/q_1/answer'
    expect(await site.ask('POST', path, { body: { answer: 'yes' } })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    expect(await site.ask('POST', path, { body: {} })).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })
})
