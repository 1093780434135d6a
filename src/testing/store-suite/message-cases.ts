import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { MessagePut, Unit } from '../../core/unit.ts'
import type { MessageQuery, Store } from '../../stores/store.ts'
import { away, bobsHome, commit, deltas, event, home, refused, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

function message(id: string, fields: Partial<MessagePut> = {}): MessagePut {
  return { id, role: 'user', parts: JSON.stringify([{ type: 'text', text: id }]), event: 0, ...fields }
}

/** A unit that says something: one event for each message, after `before` others. */
function saying(before: number, ...messages: MessagePut[]): Unit {
  const events = [...deltas(before), ...messages.map(() => event('message.created'))]
  return unit({ events, messages: messages.map((put, n) => ({ ...put, event: before + n })) })
}

async function read(store: Store, query: Partial<MessageQuery> = {}): Promise<string[]> {
  return (await store.messages(home, { limit: 100, ...query })).messages.map((entry) => entry.id)
}

/** Messages m2, m4, m6, m8 and m10, each at the number in its id. */
async function withFive(store: Store): Promise<void> {
  await commit(store, ...[2, 4, 6, 8, 10].map((seq) => saying(1, message(`m${seq}`))))
}

export const messageCases: StoreCase[] = [
  storeCase(
    'gives a message back with every field, and the number and instant of its event',
    async (store, { clock }) => {
      clock.advance(33)
      const parts = [
        { type: 'text', text: 'hi' },
        { type: 'tool', id: 'c1', name: 'search', input: { q: [1, null] }, output: 'found' },
        { type: 'file', mediaType: 'image/png', url: 'data:,' },
        { type: 'data', name: 'answer', value: { deep: { er: [] } } },
      ]
      const put = message('m1', {
        role: 'assistant',
        parts: JSON.stringify(parts),
        finish: 'cancelled',
        task: taskId('bg_0'),
      })
      await commit(store, saying(4, put))
      assert.deepEqual((await store.messages(home, { limit: 1 })).messages, [
        {
          id: 'm1',
          thread: 'home',
          seq: 5,
          role: 'assistant',
          parts,
          finish: 'cancelled',
          task: 'bg_0',
          at: clock.now(),
        },
      ])
    },
  ),

  storeCase('leaves absent fields of a message absent', async (store, { clock }) => {
    await commit(store, saying(0, message('m1', { parts: '[]' })))
    assert.deepEqual((await store.messages(home, { limit: 1 })).messages, [
      { id: 'm1', thread: 'home', seq: 1, role: 'user', parts: [], at: clock.now() },
    ])
  }),

  storeCase('gives each message of a unit its own number', async (store) => {
    await commit(store, saying(2, message('a'), message('b')), saying(0, message('c')))
    const { messages } = await store.messages(home, { limit: 10 })
    assert.deepEqual(
      messages.map(({ id, seq }) => [id, seq]),
      [
        ['a', 3],
        ['b', 4],
        ['c', 5],
      ],
    )
  }),

  storeCase('reads the first messages after a number', async (store) => {
    await withFive(store)
    assert.deepEqual(await read(store, { after: 4, limit: 2 }), ['m6', 'm8'])
    assert.deepEqual(await read(store, { after: 5, limit: 2 }), ['m6', 'm8'])
    assert.deepEqual(await read(store, { after: 0, limit: 1 }), ['m2'])
    assert.deepEqual(await read(store, { after: 10 }), [])
  }),

  storeCase('reads messages up to a number, that one included', async (store) => {
    await withFive(store)
    assert.deepEqual(await read(store, { upTo: 6 }), ['m2', 'm4', 'm6'])
    assert.deepEqual(await read(store, { after: 2, upTo: 7 }), ['m4', 'm6'])
    assert.deepEqual(await read(store, { upTo: 1 }), [])
    assert.deepEqual(await read(store, { after: 8, upTo: 4 }), [])
  }),

  storeCase('reads the last messages that match, still in the order of their numbers', async (store) => {
    await withFive(store)
    assert.deepEqual(await read(store, { limit: 2, fromEnd: true }), ['m8', 'm10'])
    assert.deepEqual(await read(store, { limit: 2, fromEnd: true, upTo: 8 }), ['m6', 'm8'])
    assert.deepEqual(await read(store, { limit: 9, fromEnd: true, after: 4 }), ['m6', 'm8', 'm10'])
  }),

  storeCase('keeps the conversations of threads and principals apart', async (store) => {
    const others = [away, bobsHome].map((thread) => ({ ...saying(0, message(`of ${thread}`)), thread }))
    await commit(store, saying(0, message('mine')), ...others)
    assert.deepEqual(await read(store), ['mine'])
  }),

  storeCase('adds no message by a refused unit', async (store) => {
    await refused(store, { ...saying(0, message('m1')), rev: 4 })
    assert.deepEqual(await read(store), [])
  }),
]
