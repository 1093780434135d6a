import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createClient } from '../../../../src/client/index.ts'
import { LiveModels } from '../../../../src/client/live/live-models.ts'
import type { TaskFilter } from '../../../../src/client/live/task-rows.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { ListServer } from './list-server.ts'

type Move =
  | { readonly do: 'accept'; readonly parent: number | undefined }
  | { readonly do: 'advance'; readonly task: number; readonly how: 'completed' | 'failed' | 'cancelled' | 'progress' }
  | { readonly do: 'deliver'; readonly count: number }
  | { readonly do: 'read' | 'answer' | 'more' | 'cut' }

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('accept'), parent: fc.option(fc.nat(5), { nil: undefined }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('advance'),
      task: fc.nat(12),
      how: fc.constantFrom('completed', 'failed', 'cancelled', 'progress'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver'), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('read', 'answer', 'read', 'answer', 'more', 'cut') }) },
)

const filter: fc.Arbitrary<TaskFilter> = fc.constantFrom<TaskFilter>(
  {},
  { status: ['running'] },
  { status: ['pending', 'completed'] },
  { status: 'failed' },
  { roots: true },
  { parent: 'bg_1' },
  { roots: true, status: ['running', 'pending'] },
)

it('any interleaving of pages, events and cuts comes to the list that the server has', async () => {
  await fc.assert(
    fc.asyncProperty(filter, fc.nat(9), fc.array(move, { maxLength: 60 }), async (asked, before, moves) => {
      const clock = manualClock()
      const server = new ListServer()
      const { fetch, WebSocket } = server
      const client = createClient({ url: 'http://server', fetch, WebSocket, clock, random: () => 0 })
      const list = new LiveModels(client, { clock, schedule: queueMicrotask, pageCount: 3 }).taskList(asked)
      for (let count = 0; count < before; count += 1) server.accept()
      const leave = list.subscribe(() => {})
      const make = async (next: Move): Promise<void> => {
        if (next.do === 'accept') server.accept(next.parent)
        else if (next.do === 'advance') server.advance(next.task, next.how)
        else if (next.do === 'deliver') server.deliver(next.count)
        else if (next.do === 'more') void list.current?.loadMore()
        else server[next.do]()
        await (next.do === 'cut' ? clock.advance(1000) : nextTurn())
      }
      for (const next of moves) await make(next)
      await settled(server)
      const query = new URLSearchParams(
        Object.entries(asked).map(([name, value]) => [name, [value].flat().join(',')] as [string, string]),
      )
      const { tasks, hasMore, isLoading, error } = list.get()
      const expected = server.matching(query)
      expect({ isLoading, error }).toEqual({ isLoading: false, error: undefined })
      expect(tasks.map(essence)).toEqual(expected.slice(0, tasks.length).map(essence))
      expect(hasMore || tasks.length === expected.length).toBe(true)
      while (list.get().hasMore) {
        const shown = list.get().tasks.length
        void list.current?.loadMore()
        await settled(server)
        expect(list.get().tasks.length > shown || !list.get().hasMore).toBe(true)
      }
      expect(list.get().tasks.map(essence)).toEqual(expected.map(essence))
      leave()
      client.close()
    }),
    { numRuns: 300 },
  )
}, 60_000)

/** Lets everything come that is on its way, and what it causes. */
async function settled(server: ListServer): Promise<void> {
  for (let quiet = 0; quiet < 3; quiet += 1) {
    await nextTurn()
    if (server.asked.length > 0) quiet = 0
    server.deliver(Number.POSITIVE_INFINITY)
    server.read()
    server.answer()
  }
}

function essence({
  id,
  status,
  progress,
}: {
  readonly id: string
  readonly status: string
  readonly progress?: number
}) {
  return { id, status, progress }
}
