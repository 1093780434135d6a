import { waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { useEvents, useTask, useTasks, useThread } from '../../src/react/index.ts'
import { until } from '../server/harness/local-server.ts'
import { pageOf, testPage } from './page.ts'

const thread = 't'
const use = (page: { use: Awaited<ReturnType<typeof testPage>>['use'] }) =>
  page.use(() => useThread(thread, { agent: 'script' }))

describe('useThread', () => {
  it('shows what was said, what is being said, and what waits', async () => {
    const page = await testPage()
    const { result } = use(page)
    expect(result.current).toMatchObject({ status: 'loading', isLoading: true, messages: [], head: 0 })
    await waitFor(() => expect(result.current).toMatchObject({ status: 'idle', isLoading: false }))
    const id = await page.run(thread, [{ say: 'half' }, { receive: {} }])
    const waiting = await page.run(thread, [{ say: 'later' }])
    await waitFor(() => expect([...result.current.live]).toEqual([[id, [{ type: 'text', text: 'half' }]]]))
    await waitFor(() => expect(result.current.queue).toMatchObject([{ id: waiting, position: 0 }]))
    expect(result.current.status).toBe('running')
    expect(result.current.tasks.get(result.current.queue[0]?.id as never)).toMatchObject({ status: 'pending' })
    await page.runtime.send(id, { content: 'go on' })
    await waitFor(() => expect(result.current).toMatchObject({ status: 'idle', queue: [] }))
    expect(result.current.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(result.current.head).toBe((await page.runtime.thread(thread)).head)
  })

  it('shares one attachment of one WebSocket among all who look at the thread', async () => {
    const page = await testPage()
    const views = [use(page), use(page), use(page)]
    page.use(() => useTasks())
    await waitFor(() => expect(views.every(({ result }) => !result.current.isLoading)).toBe(true))
    expect(page.sockets).toHaveLength(1)
    await until(async () => (await page.runtime.thread(thread)).watchers > 0)
    expect((await page.runtime.thread(thread)).watchers).toBe(1)
    expect(page.requests.filter((path) => path === 'GET /v1/threads/t')).toHaveLength(1)
    expect(views[0]?.result.current.messages).toBe(views[1]?.result.current.messages)
  })

  it('cancels nothing when it is unmounted, and lets go of the connection after a while', async () => {
    const page = await testPage()
    const view = use(page)
    const id = await page.run(thread, [{ hang: true }])
    await waitFor(() => expect(view.result.current.status).toBe('running'))
    view.unmount()
    await until(async () => (await page.runtime.thread(thread)).watchers === 0)
    expect(await page.runtime.get(id)).toMatchObject({ status: 'running' })
    expect((await page.runtime.get(id))?.cancelRequestedAt).toBeUndefined()
  })

  it('is there at once, and does not connect again, for a view that comes right after another', async () => {
    const page = await testPage()
    const first = use(page)
    await waitFor(() => expect(first.result.current.isLoading).toBe(false))
    first.unmount()
    const second = use(page)
    expect(second.result.current).toMatchObject({ status: 'idle', isLoading: false })
    expect(page.sockets).toHaveLength(1)
    expect(page.requests.filter((path) => path === 'GET /v1/threads/t')).toHaveLength(1)
  })

  it('cancels the runs on the server with stop', async () => {
    const page = await testPage()
    const { result } = use(page)
    const id = await page.run(thread, [{ say: 'half' }, { hang: true }])
    const waiting = await page.run(thread, [{ say: 'later' }])
    await waitFor(() => expect(result.current.live.size).toBe(1))
    expect(await result.current.stop()).toEqual([id, waiting])
    await waitFor(() => expect(result.current).toMatchObject({ status: 'idle', queue: [] }))
    const said = result.current.messages.find(({ task, role }) => task === id && role === 'assistant')
    expect(said).toMatchObject({ finish: 'cancelled', parts: [{ text: 'half' }] })
  })

  it('sends, steers, interrupts and withdraws', async () => {
    const page = await testPage()
    const { result } = use(page)
    await page.run(thread, [{ receive: {} }, { hang: true }])
    await waitFor(() => expect(result.current.status).toBe('running'))
    const queued = await result.current.send('next')
    await waitFor(() => expect(result.current.queue).toMatchObject([{ id: queued.id }]))
    expect(await result.current.withdraw(queued.id)).toEqual([queued.id])
    await waitFor(() => expect(result.current.queue).toEqual([]))
    expect(await result.current.steer('to the left')).toMatchObject({ steered: expect.any(String) })
    await waitFor(() => expect(JSON.stringify(result.current.messages)).toContain('to the left'))
    expect((await result.current.interrupt('instead')).interrupted).toHaveLength(1)
    await waitFor(() => expect(result.current.status).toBe('idle'))
    expect(result.current.messages.at(-1)).toMatchObject({ parts: [{ type: 'text', text: 'instead' }] })
    const parts = [{ type: 'text', text: 'in parts' }] as const
    expect(await result.current.send(parts)).toMatchObject({ agent: 'script' })
    await expect(result.current.send('x', { onBusy: 'reject', agent: 'nobody' })).rejects.toMatchObject({
      code: 'unknown_agent',
    })
  })

  it('says whom to name if it was told of no agent', async () => {
    const page = await testPage()
    const { result } = page.use(() => useThread(thread))
    await expect(result.current.send('x')).rejects.toThrow('useThread(thread, { agent })')
  })

  it('answers what is asked, and another page sees it', async () => {
    const page = await testPage()
    const here = use(page).result
    const there = use(pageOf(page)).result
    await page.run(thread, [{ ask: { text: 'Which?', options: ['x', 'y'] } }])
    await waitFor(() => expect(there.current.questions).toMatchObject([{ text: 'Which?' }]))
    await waitFor(() => expect(here.current.questions).toHaveLength(1))
    await here.current.answer(here.current.questions[0]?.id ?? '', 'y')
    await waitFor(() => expect(there.current).toMatchObject({ questions: [], status: 'idle' }))
  })

  it('goes on from a thread that was read before, and shows nothing of it once it shows another', async () => {
    const page = await testPage()
    await page.runtime.wait(await page.run(thread, [{ say: 'of t' }]))
    const initial = await page.runtime.thread(thread)
    await page.runtime.wait(await page.run('u', [{ say: 'of u, which ' }, { say: 'has a longer log' }]))
    const said = await page.runtime.thread('u')
    const { result, rerender } = page.use((id: string) => useThread(id, { initial }), thread)
    expect(result.current).toMatchObject({ messages: initial.messages, isLoading: false })
    rerender('u')
    expect(result.current).toMatchObject({ messages: [], isLoading: true })
    await waitFor(() => expect(result.current.isLoading).toBe(false))
    expect(result.current).toMatchObject({ head: said.head, messages: said.messages })
    expect([...result.current.tasks.values()].map(({ thread: of }) => of)).toEqual(['u'])
  })

  it('is in error, with a code and the id of the request, where it is not let in', async () => {
    const page = await testPage()
    const { result } = pageOf(page, { token: 'wrong' }).use(() => useThread(thread))
    await waitFor(() => expect(result.current).toMatchObject({ status: 'error', error: { code: 'unauthenticated' } }))
    expect(result.current.error?.requestId).toMatch(/./)
  })

  it('goes on after a cut without a hole', async () => {
    const page = await testPage()
    const { result } = use(page)
    const id = await page.run(thread, [{ say: 'one ' }, { receive: {} }, { say: 'two' }, { hang: true }])
    await waitFor(() => expect(result.current.live.size).toBe(1))
    page.sockets[0]?.close()
    await page.runtime.send(id, { content: 'go on' })
    await waitFor(() => expect([...result.current.live.values()]).toEqual([[{ type: 'text', text: 'one two' }]]))
  })

  it.each([false, true])(
    'shows nothing that was deleted while the connection was cut; read before: %s',
    async (wasRead) => {
      const page = await testPage()
      await page.runtime.wait(await page.run(thread, [{ say: 'old' }]))
      const initial = wasRead ? await page.runtime.thread(thread) : undefined
      const { result } = page.use(() => useThread(thread, { initial }))
      await until(async () => (await page.runtime.thread(thread)).watchers === 1)
      page.sockets[0]?.close()
      await page.runtime.deleteThread(thread)
      await page.runtime.wait(await page.run(thread, [{ say: 'new' }]))
      const { messages, head } = await page.runtime.thread(thread)
      await waitFor(() => expect(result.current).toMatchObject({ head, status: 'idle' }))
      expect(result.current.messages).toEqual(messages)
    },
  )
})

describe('useTask', () => {
  it('shows one task until it has ended, and can cancel and send', async () => {
    const page = await testPage()
    const id = await page.run(thread, [{ progress: 0.5 }, { receive: {} }, { hang: true }])
    const { result } = page.use(() => useTask(id))
    await waitFor(() => expect(result.current.task).toMatchObject({ id, status: 'running', progress: 0.5 }))
    expect(await result.current.send('hello', { from: 'me' })).toMatch(/./)
    await waitFor(async () => expect((await page.runtime.logPage(thread)).head).toBeGreaterThan(4))
    expect(await result.current.cancel({ reason: 'enough' })).toEqual([id])
    await waitFor(() => expect(result.current.task).toMatchObject({ status: 'cancelled' }))
    expect(result.current.task?.completedAt).toBeGreaterThan(0)
    expect(page.requests.filter((path) => path === `GET /v1/tasks/${id}`)).toHaveLength(1)
  })

  it('goes on from a task that was read before', async () => {
    const page = await testPage()
    const id = await page.run(thread, [{ receive: {} }])
    await until(async () => (await page.runtime.get(id))?.status === 'running')
    const initial = await page.runtime.get(id)
    const { result } = page.use(() => useTask(id, { initial }))
    expect(result.current).toMatchObject({ task: { id }, isLoading: false })
    await page.runtime.send(id, { content: 'go on' })
    await waitFor(() => expect(result.current.task).toMatchObject({ status: 'completed' }))
    expect(page.requests).toEqual([])
  })

  it('shows another task once it is asked for that, whatever was read before', async () => {
    const page = await testPage()
    const [first, second] = [await page.run(thread, [{ return: 1 }]), await page.run(thread, [{ return: 2 }])]
    const initial = await page.runtime.wait(first)
    await page.runtime.wait(second)
    const { result, rerender } = page.use((id: string) => useTask(id, { initial }), first)
    expect(result.current.task).toMatchObject({ id: first, result: 1 })
    rerender(second)
    expect(result.current).toMatchObject({ isLoading: true })
    await waitFor(() => expect(result.current.task).toMatchObject({ id: second, result: 2 }))
  })

  it('is without an error again once it is let in, though nothing happens to the task', async () => {
    const local = await testPage()
    let isLetIn = false
    const refused = () => Promise.resolve(new Response('', { status: 401 }))
    const page = pageOf(local, {
      transport: 'sse',
      fetch: (input, init) => (isLetIn || !String(input).includes('/events') ? fetch(input, init) : refused()),
    })
    const id = await local.run(thread, [{ hang: true }])
    const { result } = page.use(() => useTask(id))
    await waitFor(() => expect(result.current).toMatchObject({ task: { id }, error: { code: 'unauthenticated' } }))
    isLetIn = true
    result.current.retry()
    await waitFor(() => expect(result.current).toEqual(expect.not.objectContaining({ error: expect.anything() })))
    expect(result.current.task).toMatchObject({ id, status: 'running' })
  })

  it('reads a result that is too large for an event', async () => {
    const page = await testPage()
    const large = 'x'.repeat(300 * 1024)
    const id = await page.run(thread, [{ receive: {} }, { return: large }])
    const { result } = page.use(() => useTask(id))
    await waitFor(() => expect(result.current.task).toMatchObject({ status: 'running' }))
    await page.runtime.send(id, { content: 'go on' })
    await waitFor(() => expect(result.current.task).toMatchObject({ status: 'completed', result: large }))
  })

  it('says that there is none', async () => {
    const page = await testPage()
    const { result } = page.use(() => useTask('bg_404'))
    await waitFor(() => expect(result.current).toMatchObject({ isLoading: false, error: { code: 'not_found' } }))
    expect(result.current.task).toBeUndefined()
  })
})

describe('useEvents', () => {
  it('shows the log as it grows, and of a task or of some types what they have', async () => {
    const page = await testPage()
    const first = await page.run(thread, [{ say: 'a' }])
    await page.runtime.wait(first)
    const all = page.use(() => useEvents(thread)).result
    const said = page.use(() => useEvents(thread, { types: ['text.delta'] })).result
    await waitFor(() => expect(all.current.isLoading).toBe(false))
    const second = await page.run(thread, [{ say: 'b' }])
    const ofTask = page.use(() => useEvents(thread, { task: second })).result
    const { head } = await page.runtime.wait(second).then(() => page.runtime.thread(thread))
    await waitFor(() => expect(all.current).toMatchObject({ head, letGo: 0 }))
    expect(all.current.events.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, n) => n + 1))
    await waitFor(() => expect(said.current.events.map(({ data }) => data)).toEqual([{ text: 'a' }, { text: 'b' }]))
    await waitFor(() => expect(ofTask.current.events.at(-1)).toMatchObject({ type: 'task.completed', task: second }))
    expect(ofTask.current.events.every((event) => event.task === second || event.type === 'message.created')).toBe(true)
  })

  it('begins after a number, and after what is no longer kept', async () => {
    const page = await testPage()
    await page.runtime.wait(await page.run(thread, [{ say: 'a' }]))
    const { head } = await page.runtime.thread(thread)
    const { result } = page.use(() => useEvents(thread, { after: 2 }))
    await waitFor(() => expect(result.current).toMatchObject({ isLoading: false, head, letGo: 0 }))
    expect(result.current.events[0]?.seq).toBe(3)
    await page.runtime.deleteThread(thread)
    await page.runtime.wait(await page.run(thread, [{ say: 'b' }]))
    const later = pageOf(page).use(() => useEvents(thread)).result
    await waitFor(() => expect(later.current.isLoading).toBe(false))
    expect(later.current).toMatchObject({ letGo: (later.current.events[0]?.seq ?? 0) - 1 })
    expect(later.current.letGo).toBeGreaterThanOrEqual(head)
  })

  it('says what is wrong', async () => {
    const page = await testPage()
    const { result } = page.use(() => useEvents(thread, { after: 7 }))
    await waitFor(() => expect(result.current.error).toMatchObject({ code: 'offset_ahead' }))
  })
})
