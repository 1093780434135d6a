import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskId, threadId } from '../../../../src/core/id.ts'
import type { Message } from '../../../../src/core/message.ts'
import type { Task } from '../../../../src/core/task.ts'
import { SharedSnapshots, type SnapshotFrame } from '../../../../src/server/websocket/shared-snapshots.ts'

const thread = threadId('t')
const long = 'x'.repeat(300_000)

const message = (n: number, text = long): Message => ({
  id: `m${n}`,
  thread,
  seq: n,
  role: 'user',
  parts: [{ type: 'text', text }],
  at: n,
})

const task = (n: number, more: Partial<Task> = {}): Task => ({
  ...{ id: taskId(`bg_${n}`), thread, seq: n, type: 'run', description: '', status: 'pending', attempt: 1, epoch: 1 },
  createdAt: 1,
  input: { text: long },
  ...more,
})

const snapshot = (given: Partial<SnapshotFrame>): SnapshotFrame => ({
  ...{ type: 'snapshot', id: 1, head: 1, first: 1, messages: [], tasks: [], live: [], questions: [] },
  ...given,
})

describe('snapshots that are on their way at once', () => {
  it('hold what is the same once, wherever it stands in them', () => {
    const shared = new SharedSnapshots()
    const first = shared.share('alice', 't', snapshot({ messages: [1, 2, 3].map((n) => message(n)) }))
    const given = snapshot({ id: 2, head: 9, messages: [2, 3, 4].map((n) => message(n)) })
    const second = shared.share('alice', 't', given)
    expect(second).toEqual(given)
    expect(second.messages[0]).toBe(first.messages[1])
    expect(second.messages[1]).toBe(first.messages[2])
    expect(second.messages[2]).toBe(given.messages[2])
  })

  it('hold once what did not change of what did', () => {
    const shared = new SharedSnapshots()
    const parts = [{ type: 'text', text: long } as const]
    const live = { task: taskId('bg_1'), parts }
    const first = shared.share('alice', 't', snapshot({ tasks: [task(1, { position: 2 })], live: [live] }))
    const more = { type: 'reasoning', text: 'then' } as const
    const given = snapshot({
      tasks: [task(1, { position: 1 })],
      live: [{ ...live, parts: [...structuredClone(parts), more] }],
    })
    const second = shared.share('alice', 't', given)
    expect(second).toEqual(given)
    expect(second.tasks[0]?.input).toBe(first.tasks[0]?.input)
    expect(second.live[0]?.parts[0]).toBe(parts[0])
  })

  it('are apart for each thread and principal, and where they are short', () => {
    const shared = new SharedSnapshots()
    const [known] = shared.share('alice', 't', snapshot({ messages: [message(1)] })).messages
    const others = [
      shared.share('bob', 't', snapshot({ messages: [message(1)] })),
      shared.share('alice', 'u', snapshot({ messages: [message(1)] })),
    ]
    for (const { messages } of others) expect(messages[0]).not.toBe(known)
    const short = snapshot({ messages: [message(1, 'short')] })
    expect(shared.share('alice', 't', short)).toBe(short)
  })

  it('say what they said, whatever was there before', () => {
    const text = fc.constantFrom('a', 'b')
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(text, fc.constantFrom(0, null, undefined, false)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 3 }),
      ),
    })).value
    const given = fc
      .uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 5 })
      .chain((ids) => fc.tuple(...ids.map((n) => value.map((input) => task(n, { input })))))
    fc.assert(
      fc.property(fc.array(given, { maxLength: 6 }), (lists) => {
        const shared = new SharedSnapshots()
        const kept: SnapshotFrame[] = []
        for (const tasks of lists) {
          const frame = snapshot({ tasks, messages: [message(0)] })
          const text = JSON.stringify(frame)
          kept.push(shared.share('alice', 't', frame))
          expect(JSON.parse(JSON.stringify(kept.at(-1)))).toEqual(JSON.parse(text))
        }
      }),
      { numRuns: 50 },
    )
  })
})
