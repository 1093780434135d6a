import { describe, expect, it } from 'vitest'
import { countsOf, type KnownParents, Parents } from '../../../console/src/views/tasks/parents.ts'
import type { Task } from '../../../src/client/index.ts'

/** Tasks that are read when the test says so, and what is known of them. */
function readingOf(tree: Readonly<Record<string, string | undefined>>) {
  const underWay = new Map<string, PromiseWithResolvers<Task>>()
  const asked: string[] = []
  const published: KnownParents[] = []
  const aborted: string[] = []
  const read = (id: string, signal: AbortSignal) => {
    asked.push(id)
    signal.addEventListener('abort', () => aborted.push(id))
    const answer = Promise.withResolvers<Task>()
    underWay.set(id, answer)
    return answer.promise
  }
  const parents = new Parents(read, (known) => void published.push(known))
  const settle = async (act: (id: string, answer: PromiseWithResolvers<Task>) => void, ids: readonly string[]) => {
    for (const id of ids) {
      const answer = underWay.get(id)
      underWay.delete(id)
      if (answer) act(id, answer)
    }
    await new Promise(setImmediate)
  }
  const answer = (...ids: string[]) =>
    settle(
      (id, { resolve }) => resolve({ id, ...(tree[id] !== undefined && { parent: { task: tree[id] } }) } as Task),
      ids,
    )
  const refuse = (...ids: string[]) => settle((id, { reject }) => reject(new Error(`no ${id}`)), ids)
  return { parents, asked, aborted, published, underWay, answer, refuse, known: () => [...(published.at(-1) ?? [])] }
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `bg_${n}`)

describe('those whom asking tasks work for', () => {
  it('are read up to the root, each once', async () => {
    const { parents, asked, answer, known } = readingOf({ bg_2: 'bg_1', bg_3: 'bg_1', bg_1: 'bg_0' })
    parents.want(['bg_2', 'bg_3', 'bg_2'])
    await answer('bg_2', 'bg_3')
    await answer('bg_1')
    await answer('bg_0')
    expect(asked).toEqual(['bg_2', 'bg_3', 'bg_1', 'bg_0'])
    expect(known()).toEqual([
      ['bg_2', 'bg_1'],
      ['bg_3', 'bg_1'],
      ['bg_1', 'bg_0'],
      ['bg_0', undefined],
    ])
  })

  it('are read a few at a time', async () => {
    const { parents, asked, underWay, answer } = readingOf({})
    parents.want(numbered(10))
    expect(asked).toEqual(numbered(4))
    await answer(...numbered(4))
    expect([...underWay.keys()]).toEqual(['bg_4', 'bg_5', 'bg_6', 'bg_7'])
    await answer('bg_4', 'bg_5', 'bg_6', 'bg_7')
    expect([...underWay.keys()]).toEqual(['bg_8', 'bg_9'])
  })

  it('are not asked for again when other questions come while they are read', async () => {
    const { parents, asked, aborted, answer, known } = readingOf({ bg_1: 'bg_0' })
    parents.want(['bg_1'])
    parents.want(['bg_1', 'bg_2'])
    parents.want(['bg_1', 'bg_2', 'bg_3'])
    await answer('bg_1')
    await answer('bg_0', 'bg_2', 'bg_3')
    expect(asked.toSorted()).toEqual(['bg_0', 'bg_1', 'bg_2', 'bg_3'])
    expect(aborted).toEqual([])
    expect(known()).toHaveLength(4)
  })

  it('are forgotten when nobody asks any more who works for them', async () => {
    const { parents, answer, known } = readingOf({ bg_1: 'bg_0', bg_2: 'bg_0' })
    parents.want(['bg_1', 'bg_2'])
    await answer('bg_1', 'bg_2')
    await answer('bg_0')
    parents.want(['bg_2'])
    expect(known().map(([id]) => id)).toEqual(['bg_2', 'bg_0'])
    parents.want([])
    expect(known()).toEqual([])
  })

  it('that cannot be read are left, until other questions are asked', async () => {
    const { parents, asked, answer, refuse, known } = readingOf({})
    parents.want(['bg_1', 'bg_2'])
    await refuse('bg_1')
    await answer('bg_2')
    expect(asked).toEqual(['bg_1', 'bg_2'])
    expect(known().map(([id]) => id)).toEqual(['bg_2'])
    parents.want(['bg_1'])
    expect(asked).toEqual(['bg_1', 'bg_2', 'bg_1'])
  })

  it('are not read any more once it is stopped', async () => {
    const { parents, asked, aborted, published, answer } = readingOf({ bg_1: 'bg_0' })
    parents.want(['bg_1'])
    parents.stop()
    await answer('bg_1')
    expect([asked, aborted, published]).toEqual([['bg_1'], ['bg_1'], []])
  })
})

describe('how many questions wait', () => {
  it('is counted of whoever asks and of all that it works for', () => {
    const known = new Map([
      ['bg_2', 'bg_1'],
      ['bg_1', undefined],
    ])
    expect([...countsOf(['bg_2', 'bg_1', 'bg_9'], known)]).toEqual([
      ['bg_2', 1],
      ['bg_1', 2],
      ['bg_9', 1],
    ])
  })
})
