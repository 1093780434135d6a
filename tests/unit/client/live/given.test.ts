import { expect, it } from 'vitest'
import { LiveModels } from '../../../../src/client/live/live-models.ts'
import { threadId } from '../../../../src/core/id.ts'
import { clientWorld, grow } from '../client-world.ts'
import { event } from '../events.ts'

const lists = { messages: [], tasks: [], live: [], questions: [] }

function given(known: number) {
  const { client, server, clock } = clientWorld({}, known)
  const models = new LiveModels(client, { clock, schedule: queueMicrotask })
  const initial = { thread: threadId('t'), head: known, first: 1, watchers: 0, ...lists }
  return { server, clock, thread: models.thread('t', initial), models }
}

it('a thread goes on from the snapshot that it was given, without reading another', async () => {
  const { server, clock, thread } = given(3)
  expect(thread.get()).toMatchObject({ head: 3, isLoading: false, status: 'idle' })
  expect(server.opened).toEqual([])
  thread.subscribe(() => {})
  grow(server, 2)
  await clock.advance(0)
  expect(thread.get().head).toBe(5)
  expect(server.requests).toEqual([])
  expect(server.frames).toMatchObject([{ type: 'attach', after: 3 }])
})

it('a thread reads another snapshot where an event does not tell what it means for the one that was given', async () => {
  const { server, clock, thread } = given(3)
  thread.subscribe(() => {})
  await clock.advance(0)
  server.append(event('task.resumed', { attempt: 2, node: 'n', keep: 1 }, { seq: 4 }))
  await clock.advance(0)
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/threads/t'])
  grow(server, 1)
  await clock.advance(0)
  expect(thread.get()).toMatchObject({ head: 5, isLoading: false })
})

it('nothing is asked for or kept before somebody subscribes', () => {
  const { server, models, thread } = given(3)
  for (const handle of [models.taskList({}), models.threadList(), models.agentList(), models.task('bg_0')]) {
    expect(handle.get()).toBe(handle.initial)
    expect(handle.current).toBeUndefined()
  }
  expect(thread.current).toBeUndefined()
  expect({ requests: server.requests, opened: server.opened }).toEqual({ requests: [], opened: [] })
})
