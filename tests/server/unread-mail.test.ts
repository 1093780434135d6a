import { describe, expect, it } from 'vitest'
import { localServer } from './harness/local-server.ts'

async function served() {
  const local = await localServer()
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await local.get(path, headers, { method: 'POST', body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...local, post }
}

describe('a message that nobody reads', () => {
  it('is named with the task that ended without it, and in its last event', async () => {
    const { post, get, run, runtime } = await served()
    const id = await run('t', [{ receive: {} }])
    const ids: unknown[] = []
    const held = await runtime.spawn({ thread: 't', agent: 'script', input: { script: [{ ask: { text: 'Done?' } }] } })
    for (const content of ['one', 'two']) {
      const { status, body } = await post(`/v1/tasks/${held.id}/messages`, { content })
      expect(status).toBe(202)
      ids.push(body['id'])
    }
    for await (const event of runtime.subscribe({ thread: 't', after: 0, types: ['question.asked'] })) {
      if (event.type === 'question.asked') await runtime.answer(event.data.question.id, 'yes')
      break
    }
    await runtime.wait(held.id)
    expect(await (await get(`/v1/tasks/${held.id}`)).json()).toMatchObject({ status: 'completed', unread: ids })
    const page = await (await get(`/v1/threads/t/events?limit=1000&task=${held.id}`)).json()
    expect((page as { events: object[] }).events.at(-1)).toMatchObject({
      type: 'task.completed',
      data: { unread: ids },
    })
    await post(`/v1/tasks/${id}/messages`, { content: 'read' })
    expect(await runtime.wait(id)).not.toHaveProperty('unread')
  })

  it('is refused with 409 to a task that is being cancelled', async () => {
    const { post, run } = await served()
    const id = await run('t', [{ hang: 'hard' }])
    expect((await post(`/v1/tasks/${id}/cancel`, {})).body).toEqual({ cancelled: [id] })
    expect(await post(`/v1/tasks/${id}/messages`, { content: 'wait' })).toMatchObject({
      status: 409,
      body: { code: 'task_terminated', taskStatus: 'cancelled' },
    })
  })
})
