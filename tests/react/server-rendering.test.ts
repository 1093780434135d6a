import { waitFor } from '@testing-library/react'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Client, isTerminal, type Task, type ThreadSnapshot } from '../../src/client/index.ts'
import { HoldfastProvider, useConnection, useTask, useTasks, useThread } from '../../src/react/index.ts'
import { until } from '../server/harness/local-server.ts'
import { document } from './dom.ts'
import { testPage } from './page.ts'

// Loaded after the document of the page above, which they look for.
const { createElement, StrictMode } = await import('react')
const { hydrateRoot } = await import('react-dom/client')
const { renderToString } = await import('react-dom/server')

interface Given {
  readonly snapshot: ThreadSnapshot
  readonly task: Task
}

function Conversation({ snapshot, task }: Given) {
  const { live, messages, status } = useThread('t', { initial: snapshot })
  const one = useTask(task.id, { initial: task })
  const { tasks, isLoading } = useTasks()
  const { state } = useConnection()
  const said = [...live.values()].flat().map((part) => ('text' in part ? part.text : ''))
  const line = [status, one.task?.status, isLoading ? 'loading' : tasks.length, messages.length, ...said].join('|')
  return createElement('p', { title: state }, line)
}

function page(client: Client, given: Given) {
  return createElement(
    StrictMode,
    null,
    createElement(HoldfastProvider, { client }, createElement(Conversation, given)),
  )
}

it('a page that was rendered on a server is taken over as it is, and goes on without another snapshot', async () => {
  const { client, requests, sockets, runtime, run } = await testPage()
  const id = await run('t', [{ say: 'once upon ' }, { receive: {} }, { say: 'a time' }, { hang: true }])
  await until(async () => (await runtime.thread('t')).live.length > 0)
  const given = { snapshot: await runtime.thread('t'), task: (await runtime.get(id)) as Task }
  const html = renderToString(page(client, given))
  expect(html).toContain('running|running|loading|1|once upon ')
  expect({ requests, sockets }).toEqual({ requests: [], sockets: [] })
  // What happens before the browser has loaded the page.
  await runtime.send(id, { content: 'go on' })

  const told = vi.spyOn(console, 'error')
  onTestFinished(() => told.mockRestore())
  const container = document.createElement('div')
  container.innerHTML = html
  const errors: unknown[] = []
  const root = hydrateRoot(container, page(client, given), {
    onRecoverableError: (error) => errors.push(error),
  })
  onTestFinished(() => root.unmount())
  await waitFor(() => expect(container.textContent).toBe('running|running|1|1|once upon a time'))
  expect(errors).toEqual([])
  expect(told.mock.calls).toEqual([])
  expect(requests.filter((path) => path.startsWith('GET /v1/threads') || path.includes(id))).toEqual([])
  expect(sockets).toHaveLength(1)
  expect(isTerminal((await runtime.get(id))?.status ?? 'completed')).toBe(false)
})
