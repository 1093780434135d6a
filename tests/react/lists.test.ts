import { waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { useAgents, useConnection, useEvents, useQuestions, useTasks, useThreads } from '../../src/react/index.ts'
import { testPage } from './page.ts'

const hang = [{ hang: true }]

describe('useTasks', () => {
  it('shows new tasks first and changes rows in place, without asking again', async () => {
    const page = await testPage()
    const first = await page.run('a', [{ say: 'x' }])
    await page.runtime.wait(first)
    const { result } = page.use(() => useTasks())
    expect(result.current).toMatchObject({ tasks: [], isLoading: true })
    await waitFor(() => expect(result.current.tasks).toMatchObject([{ id: first, status: 'completed' }]))
    const asked = page.requests.length
    const second = await page.run('b', hang)
    await waitFor(() => expect(result.current.tasks).toMatchObject([{ id: second, status: 'running' }, { id: first }]))
    await page.runtime.cancelTask(second)
    await waitFor(() => expect(result.current.tasks[0]).toMatchObject({ id: second, status: 'cancelled' }))
    expect(page.requests).toHaveLength(asked)
    expect(page.sockets).toHaveLength(1)
  })

  it('drops what no longer matches, and takes in what begins to', async () => {
    const page = await testPage()
    const old = await page.run('a', hang)
    const { result } = page.use(() => useTasks({ status: ['completed', 'cancelled'] }))
    await waitFor(() => expect(result.current).toMatchObject({ isLoading: false, tasks: [] }))
    const live = page.use(() => useTasks({ status: ['running'] })).result
    await waitFor(() => expect(live.current.tasks).toMatchObject([{ id: old }]))
    await page.runtime.cancelTask(old)
    await waitFor(() => expect(result.current.tasks).toMatchObject([{ id: old, status: 'cancelled' }]))
    expect(live.current.tasks).toEqual([])
  })

  it('shows only roots if that is asked for', async () => {
    const page = await testPage()
    const { result } = page.use(() => useTasks({ roots: true }))
    const root = await page.run('a', [{ spawn: { script: [{ say: 'child' }], wait: true } }])
    await page.runtime.wait(root)
    await waitFor(() => expect(result.current.tasks).toMatchObject([{ id: root, status: 'completed' }]))
    expect((await page.runtime.list({})).tasks).toHaveLength(2)
  })

  it('loads more where there is more', async () => {
    const page = await testPage({ limits: { queuedRunsPerThread: 1000, openTasksPerPrincipal: 1000 } })
    const ids = await Promise.all(Array.from({ length: 120 }, (_, n) => page.run(`t${n}`, [{ say: 'x' }])))
    const { result } = page.use(() => useTasks())
    await waitFor(() => expect(result.current).toMatchObject({ hasMore: true, isLoading: false }))
    expect(result.current.tasks).toHaveLength(100)
    await result.current.loadMore()
    await waitFor(() => expect(result.current.hasMore).toBe(false))
    expect(new Set(result.current.tasks.map(({ id }) => id))).toEqual(new Set(ids))
  })

  it('is right again after the connection was cut', async () => {
    const page = await testPage()
    const { result } = page.use(() => useTasks({ status: ['running'] }))
    const id = await page.run('a', hang)
    await waitFor(() => expect(result.current.tasks).toMatchObject([{ id }]))
    const cut = () => page.sockets.at(-1)?.close()
    cut()
    await page.runtime.cancelTask(id)
    const next = await page.run('b', hang)
    await waitFor(() => expect(result.current.tasks.map((task) => task.id)).toEqual([next]))
    expect(page.sockets).toHaveLength(2)
  })

  it('says what is wrong as a value, and reads again when it is asked to', async () => {
    const page = await testPage()
    const { result, rerender } = page.use((thread: string) => useTasks({ thread }), 'no such thread')
    await waitFor(() => expect(result.current.error).toMatchObject({ code: 'invalid_request' }))
    expect(result.current.error?.requestId).toMatch(/./)
    expect(result.current.isLoading).toBe(false)
    const asked = page.requests.length
    result.current.retry()
    await waitFor(() => expect(page.requests.length).toBeGreaterThan(asked))
    rerender('a')
    await waitFor(() => expect(result.current).toMatchObject({ isLoading: false, tasks: [] }))
    expect(result.current.error).toBeUndefined()
  })
})

describe('a thread that is deleted', () => {
  it('leaves every list, and its log begins anew', async () => {
    const page = await testPage()
    for (const thread of ['a', 'b']) await page.runtime.wait(await page.run(thread, [{ say: 'x' }]))
    const { result } = page.use(() => ({
      ...{ tasks: useTasks().tasks, threads: useThreads().threads },
      events: useEvents('a').events,
    }))
    await waitFor(() => {
      expect(result.current).toMatchObject({ tasks: [{}, {}], threads: [{}, {}] })
      expect(result.current.events.at(-1)?.type).toBe('task.completed')
    })
    await page.client.deleteThread('a')
    await waitFor(() => {
      expect(result.current).toMatchObject({ tasks: [{ thread: 'b' }], threads: [{ thread: 'b' }], events: [] })
    })
  })
})

describe('the other lists', () => {
  it('useThreads shows the thread in which something happened last first', async () => {
    const page = await testPage()
    // Within one millisecond nothing was last.
    const script = [{ sleepMs: 2 }, { say: 'x' }]
    for (const thread of ['a', 'b']) await page.runtime.wait(await page.run(thread, script))
    const { result } = page.use(() => useThreads())
    await waitFor(() => expect(result.current.threads.map(({ thread }) => thread)).toEqual(['b', 'a']))
    for (const thread of ['a', 'c']) await page.runtime.wait(await page.run(thread, script))
    await waitFor(() => expect(result.current.threads.map(({ thread }) => thread)).toEqual(['c', 'a', 'b']))
    expect(result.current.hasMore).toBe(false)
  })

  it('useQuestions shows what is asked until it is answered, here or elsewhere', async () => {
    const page = await testPage()
    const all = page.use(() => useQuestions()).result
    const ofThread = page.use(() => useQuestions('b')).result
    await waitFor(() => expect(all.current.isLoading).toBe(false))
    await page.run('a', [{ ask: { text: 'Which?', options: ['x', 'y'] } }])
    await page.run('b', [{ ask: { text: 'And?' } }])
    await waitFor(() => expect(all.current.questions.map(({ text }) => text).toSorted()).toEqual(['And?', 'Which?']))
    await waitFor(() => expect(ofThread.current.questions).toMatchObject([{ text: 'And?' }]))
    const [which] = all.current.questions.filter(({ text }) => text === 'Which?')
    expect(await all.current.answer(which?.id ?? '', 'x')).toMatchObject({ answer: 'x' })
    await waitFor(() => expect(all.current.questions).toMatchObject([{ text: 'And?' }]))
    await expect(all.current.answer(which?.id ?? '', 'y')).rejects.toMatchObject({ code: 'already_answered' })
  })

  it('useAgents shows what the server can run', async () => {
    const page = await testPage()
    const { result } = page.use(() => useAgents())
    await waitFor(() => expect(result.current.agents.map(({ name }) => name)).toEqual(['script']))
  })

  it('useConnection tells when the server is heard, and when not', async () => {
    const page = await testPage()
    const { result } = page.use(() => useConnection())
    page.use(() => useTasks())
    await waitFor(() => expect(result.current.state).toBe('live'))
    await page.server.close()
    await waitFor(() => expect(result.current.state).toBe('reconnecting'))
    await waitFor(() => expect(result.current.retryInMs).toBeGreaterThan(0))
    expect(result.current.at).toBeGreaterThan(0)
  })
})
