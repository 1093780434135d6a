import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../../../src/client/index.ts'
import { LiveModels } from '../../../../src/client/live/live-models.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { ListServer } from './list-server.ts'

/** A list of running roots, whose server answers at once and counts what it is asked for. */
async function runningRoots(prepare: (server: ListServer) => void) {
  const clock = manualClock()
  const server = new ListServer()
  prepare(server)
  const paths: string[] = []
  let most = 0
  const { WebSocket } = server
  const fetch: typeof globalThis.fetch = (input, init) => {
    paths.push(new URL(input).pathname)
    return server.fetch(input, init)
  }
  const client = createClient({ url: 'http://server', fetch, WebSocket, clock, random: () => 0 })
  onTestFinished(() => client.close())
  const models = new LiveModels(client, { clock, schedule: queueMicrotask, pageCount: 3 })
  const list = models.taskList({ status: ['running'], roots: true })
  list.subscribe(() => {})
  const settle = async (): Promise<void> => {
    await clock.advance(0)
    while (server.asked.length > 0) {
      most = Math.max(most, server.asked.length)
      server.read()
      server.answer()
      await clock.advance(0)
    }
  }
  await settle()
  const happen = async (what: () => void): Promise<string[]> => {
    const before = paths.length
    what()
    server.deliver(Number.POSITIVE_INFINITY)
    await settle()
    return paths.slice(before)
  }
  return { server, list, happen, mostAtOnce: () => most }
}

/** Begins or ends every task, in this order. */
function advanceAll(server: ListServer): void {
  for (let which = 0; which < server.tasks.length; which += 1) server.advance(which, 'completed')
}

it('a child whose acceptance was heard is never asked for', async () => {
  const { server, list, happen } = await runningRoots((here) => {
    here.accept()
    here.advance(0, 'completed')
  })
  expect(list.get().tasks).toHaveLength(1)
  const asked = await happen(() => {
    for (let count = 0; count < 50; count += 1) server.accept(0)
    advanceAll(server)
  })
  expect(asked).toEqual([])
})

it('a child that was accepted before is asked for once, however often it is heard of', async () => {
  const { server, happen } = await runningRoots((here) => {
    here.accept()
    here.accept(0)
  })
  expect(await happen(() => server.advance(0, 'completed'))).toEqual(['/v1/tasks/bg_1'])
  server.restart('bg_1')
  expect(await happen(() => server.advance(0, 'completed'))).toEqual([])
})

it('of many that may have begun to match a few are asked for one by one, and then the list', async () => {
  const { server, list, happen, mostAtOnce } = await runningRoots((here) => {
    for (let count = 0; count < 500; count += 1) here.accept(count > 4 ? 0 : undefined)
  })
  const asked = await happen(() => advanceAll(server))
  expect(asked.length).toBeLessThan(50)
  expect(mostAtOnce()).toBeLessThan(25)
  expect(list.get().tasks.map(({ id }) => id)).toEqual(
    server
      .matching(new URLSearchParams({ status: 'running', roots: 'true' }))
      .slice(0, 3)
      .map(({ id }) => id),
  )
})
