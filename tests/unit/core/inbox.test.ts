import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { createInbox } from '../../../src/core/inbox.ts'
import { customItem, endItem, type InboxItem, messageItem } from '../../../src/core/inbox-item.ts'
import { taskRecord } from './task-record.ts'

const task = taskId('bg_1')
const item = (n: number): InboxItem => customItem(task, 'tick', { n })

describe('inbox items', () => {
  it('show a message as a custom agent_message with sender and content', () => {
    expect(messageItem(task, { from: 'planner', content: 'go' })).toEqual({
      kind: 'custom',
      taskId: 'bg_1',
      eventType: 'agent_message',
      payload: { from: 'planner', content: 'go' },
    })
    expect(messageItem(task, { content: '' })).toMatchObject({ payload: { content: '' } })
    expect(messageItem(task, { content: '' })).not.toHaveProperty('payload.from')
  })

  it('show a custom event with its name and payload', () => {
    expect(customItem(task, 'ready', { port: 1 })).toEqual({
      kind: 'custom',
      taskId: 'bg_1',
      eventType: 'ready',
      payload: { port: 1 },
    })
    expect(customItem(task, 'ready')).not.toHaveProperty('payload')
    expect(customItem(task, 'ready', null)).toHaveProperty('payload', null)
  })

  it('show each end with its result or error', () => {
    const error = { code: 'agent_error', message: 'no such page' } as const
    const cancelled = { code: 'cancelled', message: 'The task was cancelled' } as const
    expect(endItem(taskRecord('bg_1', { status: 'completed', result: '{"a":[1]}' }))).toEqual({
      kind: 'completed',
      taskId: 'bg_1',
      result: { a: [1] },
    })
    expect(endItem(taskRecord('bg_1', { status: 'completed' }))).toEqual({ kind: 'completed', taskId: 'bg_1' })
    expect(endItem(taskRecord('bg_1', { status: 'failed', error }))).toEqual({ kind: 'failed', taskId: 'bg_1', error })
    expect(endItem(taskRecord('bg_1', { status: 'cancelled', error: cancelled }))).toMatchObject({ error: cancelled })
  })

  it('show no end of a task that has none', () => {
    expect(() => endItem(taskRecord('bg_1', { status: 'running' }))).toThrow('bg_1 is running and has no end')
    expect(() => endItem(taskRecord('bg_1', { status: 'failed' }))).toThrow('bg_1 is failed without an error')
  })
})

describe('an inbox', () => {
  it('gathers until it is drained, which empties it', () => {
    const inbox = createInbox()
    for (let n = 0; n < 6; n += 1) expect(inbox.send(item(n))).toBe(true)
    expect(inbox.size).toBe(6)
    expect(inbox.drain()).toEqual([0, 1, 2, 3, 4, 5].map(item))
    expect(inbox.drain()).toEqual([])
  })

  it('hands an item to whoever waits for one, the longest waiting first', async () => {
    const inbox = createInbox()
    const [first, second] = [inbox.next(), inbox.next()]
    inbox.send(item(1))
    inbox.send(item(2))
    expect(await first).toEqual({ done: false, value: item(1) })
    expect(await second).toEqual({ done: false, value: item(2) })
    expect(inbox.size).toBe(0)
  })

  it('is read by a loop that ends when it is closed', async () => {
    const inbox = createInbox()
    inbox.send(item(1))
    const seen: InboxItem[] = []
    const reading = (async () => {
      for await (const next of inbox) seen.push(next)
    })()
    inbox.send(item(2))
    inbox.close()
    await reading
    expect(seen).toEqual([item(1), item(2)])
    expect(inbox.isClosed).toBe(true)
  })

  it('stays open with the rest inside when a loop is left early', async () => {
    const inbox = createInbox()
    inbox.send(item(1))
    inbox.send(item(2))
    for await (const next of inbox) {
      expect(next).toEqual(item(1))
      break
    }
    expect(inbox.send(item(3))).toBe(true)
    expect(inbox.drain()).toEqual([item(2), item(3)])
  })

  it('gives what has gathered after it is closed, and then is done', async () => {
    const inbox = createInbox()
    inbox.send(item(1))
    inbox.send(item(2))
    inbox.close()
    expect(await inbox.next()).toEqual({ done: false, value: item(1) })
    expect(inbox.drain()).toEqual([item(2)])
    expect(await inbox.next()).toEqual({ done: true, value: undefined })
  })

  it('hands what comes after its close to onClosed', () => {
    const onClosed = vi.fn<(item: InboxItem, why: string) => void>()
    const inbox = createInbox({ onClosed })
    inbox.send(item(1))
    inbox.close()
    expect(inbox.send(item(2))).toBe(false)
    expect(onClosed.mock.calls).toEqual([[item(2), 'closed']])
    expect(inbox.drain()).toEqual([item(1)])
  })

  it('hands what it has no room for to onClosed, and takes more once there is room', () => {
    const onClosed = vi.fn<(item: InboxItem, why: string) => void>()
    const inbox = createInbox({ capacity: 2, onClosed })
    expect([1, 2, 3].map((n) => inbox.send(item(n)))).toEqual([true, true, false])
    expect(onClosed.mock.calls).toEqual([[item(3), 'full']])
    inbox.drain()
    expect(inbox.send(item(4))).toBe(true)
  })

  it('needs no room for an item that somebody waits for', async () => {
    const inbox = createInbox({ capacity: 0 })
    const next = inbox.next()
    expect(inbox.send(item(1))).toBe(true)
    expect(await next).toEqual({ done: false, value: item(1) })
  })

  it('works without an onClosed', () => {
    const inbox = createInbox()
    inbox.close()
    inbox.close()
    expect(inbox.send(item(1))).toBe(false)
  })
})

describe('a callback that fails', () => {
  const failure = new Error('the fallback is broken')

  it('is told to onError and not to the sender', () => {
    const onError = vi.fn<(error: unknown, item: InboxItem) => void>()
    const inbox = createInbox({
      onClosed: () => {
        throw failure
      },
      onError,
    })
    inbox.close()
    expect(inbox.send(item(1))).toBe(false)
    expect(onError.mock.calls).toEqual([[failure, item(1)]])
  })

  it('is told to onError when it rejects later', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const inbox = createInbox({ onClosed: () => Promise.reject(failure), onError: resolve })
    inbox.close()
    expect(inbox.send(item(1))).toBe(false)
    expect(await promise).toBe(failure)
  })

  it('reaches nobody when onError fails too, or is not there', () => {
    const broken = () => {
      throw failure
    }
    for (const options of [{ onClosed: broken }, { onClosed: broken, onError: broken }]) {
      const inbox = createInbox(options)
      inbox.close()
      expect(inbox.send(item(1))).toBe(false)
    }
  })
})

describe('every item', () => {
  const action = fc.constantFrom('send', 'drain', 'next', 'close')

  it('is taken once, in order, or handed to onClosed', async () => {
    const length = fc.integer({ min: 0, max: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), length, async (actions, capacity) => {
        const refused: InboxItem[] = []
        const inbox = createInbox({ capacity, onClosed: (late) => void refused.push(late) })
        const sent: InboxItem[] = []
        const taken: Promise<InboxItem | undefined>[] = []
        const drain = () => taken.push(...inbox.drain().map((each) => Promise.resolve(each)))
        const send = (each: InboxItem) => {
          sent.push(each)
          inbox.send(each)
        }
        for (const [n, act] of actions.entries()) {
          if (act === 'send') send(item(n))
          if (act === 'drain') drain()
          if (act === 'next') taken.push(inbox.next().then((next) => next.value))
          if (act === 'close') inbox.close()
        }
        inbox.close()
        drain()
        const all = (await Promise.all(taken)).filter((each) => each !== undefined)
        expect(all).toEqual(sent.filter((each) => !refused.includes(each)))
        expect(all.length + refused.length).toBe(sent.length)
      }),
    )
  })
})
