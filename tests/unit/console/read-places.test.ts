import { describe, expect, it } from 'vitest'
import { type Read, readOn } from '../../../console/src/views/thread/read-places.ts'
import { placesIn } from '../../../console/src/views/thread/run-order.ts'
import type { Client, Task, ThreadEvent } from '../../../src/client/index.ts'

const event = (seq: number, type: string, task: string, data: object) => ({ seq, type, task, data }) as ThreadEvent
const said = (seq: number, text: string) => event(seq, 'text.delta', 'bg_0', { text })
const spawned = (seq: number, id: string) => event(seq, 'task.accepted', id, { task: { id } })
const resumed = (seq: number, keep: number, attempt: number, task = 'bg_0') =>
  event(seq, 'task.resumed', task, { keep, attempt })
const run = (attempt: number) => ({ id: 'bg_0', thread: 't', attempt }) as Task
const begin: Read = { after: 0, outputs: [], marks: [] }
const { signal } = new AbortController()

/** As much of a client as reads a log, a few numbers at a time. */
function clientOf(log: readonly ThreadEvent[]) {
  const asked: number[] = []
  const events: Client['events'] = (_thread, { after = 0, task, types } = {}) => {
    asked.push(after)
    const head = log.at(-1)?.seq ?? 0
    const next = Math.min(head, after + 2)
    const isWanted = (found: ThreadEvent) =>
      found.seq > after &&
      found.seq <= next &&
      (task === undefined || found.task === task) &&
      (types?.includes(found.type) ?? true)
    return Promise.resolve({ events: log.filter(isWanted), next, head })
  }
  return { client: { events }, asked }
}

const placesOf = ({ outputs, marks }: Read) => [...placesIn(outputs, marks)]

describe('reading where things happened in a run', () => {
  it('goes on to the last of what is wanted, and no further', async () => {
    const { client, asked } = clientOf([said(1, 'ONE'), spawned(2, 'bg_1'), said(3, 'TWO'), said(5, 'x'), said(9, 'x')])
    const read = await readOn(client, run(1), begin, ['bg_1'], signal)
    expect(placesOf(read)).toEqual([['bg_1', 3]])
    expect(asked).toEqual([0, 0])
  })

  it('goes on from where it was when there is another', async () => {
    const { client, asked } = clientOf([said(1, 'ONE'), spawned(2, 'bg_1'), said(3, 'TWO'), spawned(4, 'bg_2')])
    const first = await readOn(client, run(1), begin, ['bg_1'], signal)
    const both = await readOn(client, run(1), first, ['bg_1', 'bg_2'], signal)
    expect(placesOf(both)).toEqual([
      ['bg_1', 3],
      ['bg_2', 6],
    ])
    expect(asked).toEqual([0, 0, 2, 2])
  })

  it('goes on to the last resume, though all is found, and does not count what it dropped', async () => {
    const log = [said(1, 'ONE'), said(2, 'gone'), spawned(3, 'bg_1'), said(5, 'x'), resumed(7, 1, 2), resumed(9, 1, 3)]
    const { client } = clientOf(log)
    const before = await readOn(client, run(1), begin, ['bg_1'], signal)
    expect(placesOf(before)).toEqual([['bg_1', 7]])
    const after = await readOn(client, run(2), before, ['bg_1'], signal)
    expect(placesOf(after)).toEqual([['bg_1', 3]])
    expect(after.after).toBe(8)
    expect(placesOf(await readOn(client, run(3), begin, ['bg_1'], signal))).toEqual([['bg_1', 3]])
  })

  it('takes the resume of another task for none of its own', async () => {
    const { client } = clientOf([
      said(1, 'gone'),
      spawned(2, 'bg_1'),
      resumed(3, 0, 2, 'bg_1'),
      said(5, 'x'),
      resumed(7, 0, 2),
    ])
    expect(placesOf(await readOn(client, run(2), begin, ['bg_1'], signal))).toEqual([['bg_1', 0]])
  })
})
