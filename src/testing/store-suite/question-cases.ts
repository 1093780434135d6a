import assert from 'node:assert/strict'
import { threadOf } from '../../core/id.ts'
import type { QuestionRecord } from '../../core/question.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  asking,
  away,
  bob,
  bobsHome,
  commit,
  ended,
  ending,
  failsTheBatch,
  home,
  idsOf,
  liveOf,
  question,
  refused,
  running,
  settling,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function withTwoTasks(store: Store): Promise<void> {
  await commit(store, accepting(running('bg_0')), accepting(running('bg_1')))
}

async function find(store: Store, id: string): Promise<QuestionRecord | undefined> {
  const found = await store.questions({ id })
  assert.ok(found.length <= 1)
  return found[0]
}

async function openOf(store: Store, principal = alice): Promise<string[]> {
  return idsOf(await store.questions({ principal }))
}

export const questionCases: StoreCase[] = [
  storeCase('gives a question back with every field, asked at the instant of its commit', async (store, { clock }) => {
    await withTwoTasks(store)
    const text = 'Really?\n"\u2028 \ud83d\ude00'
    const whole = question('bg_0', 'q_a', { text, options: ['a', ''], default: '"a"', input: 'digest', expiresAt: 9 })
    clock.advance(7)
    await commit(store, asking(whole), asking(question('bg_1', 'q_b')))
    const askedAt = clock.now()
    const asked = [
      { ...whole, askedAt },
      { ...question('bg_1', 'q_b'), askedAt },
    ]
    assert.deepEqual((await liveOf(store)).questions, asked)
    assert.deepEqual(await store.questions({ principal: alice }), asked)
    assert.deepEqual(await find(store, 'q_a'), asked[0])
    assert.equal(await find(store, 'q_c'), undefined)
  }),

  storeCase('keeps what was answered, when and by whom, and when it was asked', async (store, { clock }) => {
    await withTwoTasks(store)
    await commit(store, asking(question('bg_0', 'q_a')))
    const askedAt = clock.now()
    clock.advance(5)
    const answered = question('bg_0', 'q_a', { answer: '{"n":1.0}', by: 'alice', answeredAt: 0 })
    await commit(store, settling(answered, { stamp: 'answeredAt' }))
    clock.advance(5)
    await commit(store, settling({ ...answered, taken: true }))
    const expected = { ...answered, askedAt, answeredAt: askedAt + 5, taken: true }
    assert.deepEqual(await find(store, 'q_a'), expected)
  }),

  storeCase('shows a decision what is open or not taken yet, and a list what is open', async (store) => {
    await withTwoTasks(store)
    await commit(store, ...['q_a', 'q_b', 'q_c', 'q_d'].map((id) => asking(question('bg_0', id))))
    const answer = { answer: '1', by: 'alice' }
    await commit(store, settling(question('bg_0', 'q_b', answer)))
    await commit(store, settling(question('bg_0', 'q_c', { ...answer, taken: true })))
    await commit(store, settling(question('bg_0', 'q_d', { closed: 'timeout' })))
    assert.deepEqual(idsOf((await liveOf(store)).questions), ['q_a', 'q_b', 'q_d'])
    assert.deepEqual(await openOf(store), ['q_a'])
    assert.deepEqual(idsOf(await store.questions({ principal: alice, thread: threadOf(home) })), ['q_a'])
    const snapshot = await store.snapshot(home, { messages: 0, endedTasks: 0 })
    assert.deepEqual(idsOf(snapshot?.questions ?? []), ['q_a'])
    assert.equal((await find(store, 'q_d'))?.closed, 'timeout')
  }),

  storeCase('lists the questions of a principal and of a thread, the first asked first', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { key: away })))
    await commit(store, accepting(running('bg_2', { key: bobsHome })))
    await commit(store, asking(question('bg_1', 'q_b', { key: away })), asking(question('bg_0', 'q_a')))
    await commit(store, asking(question('bg_2', 'q_c', { key: bobsHome })))
    assert.deepEqual(await openOf(store), ['q_b', 'q_a'])
    assert.deepEqual(await openOf(store, bob), ['q_c'])
    const ofThread = async (key: typeof home) =>
      idsOf(await store.questions({ principal: alice, thread: threadOf(key) }))
    assert.deepEqual(await ofThread(home), ['q_a'])
    assert.deepEqual(await ofThread(away), ['q_b'])
    assert.deepEqual((await liveOf(store, away)).questions.length, 1)
  }),

  storeCase('finds open questions that expired by an instant, the first to expire first', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { key: bobsHome })))
    const expiring = { q_a: 300, q_b: 100, q_c: 200 }
    await commit(
      store,
      ...Object.entries(expiring).map(([id, expiresAt]) => asking(question('bg_0', id, { expiresAt }))),
    )
    await commit(store, asking(question('bg_0', 'q_never')))
    await commit(store, asking(question('bg_1', 'q_bob', { key: bobsHome, expiresAt: 50 })))
    const expired = async (expiredAt: number, limit = 9) => idsOf(await store.questions({ expiredAt, limit }))
    assert.deepEqual(await expired(49), [])
    assert.deepEqual(await expired(299), ['q_bob', 'q_b', 'q_c'])
    assert.deepEqual(await expired(300, 2), ['q_bob', 'q_b'])
    await commit(store, settling(question('bg_0', 'q_b', { expiresAt: 100, closed: 'timeout' })))
    assert.deepEqual(await expired(300), ['q_bob', 'q_c', 'q_a'])
  }),

  storeCase('keeps questions of a task that has ended, but shows them to no decision and no list', async (store) => {
    await withTwoTasks(store)
    await commit(store, asking(question('bg_0', 'q_a', { expiresAt: 1 })), asking(question('bg_1', 'q_b')))
    await commit(store, ending(ended('bg_0'), { forget: [ended('bg_0').id] }))
    assert.deepEqual(idsOf((await liveOf(store)).questions), ['q_b'])
    assert.deepEqual(await openOf(store), ['q_b'])
    assert.deepEqual(await store.questions({ expiredAt: 9, limit: 9 }), [])
    assert.equal((await find(store, 'q_a'))?.text, 'Really?')
  }),

  storeCase('asks nothing and settles nothing with a unit that is refused', async (store) => {
    await withTwoTasks(store)
    await commit(store, asking(question('bg_0', 'q_a')))
    await refused(store, asking(question('bg_0', 'q_b'), { fence: { task: running('bg_0').id, epoch: 2 } }))
    await refused(store, settling(question('bg_0', 'q_a', { closed: 'timeout' }), {}, { rev: 7 }))
    assert.deepEqual(await openOf(store), ['q_a'])
  }),

  storeCase('refuses two questions of one step, one id twice, and one that nobody asked', async (store) => {
    await withTwoTasks(store)
    await commit(store, asking(question('bg_0', 'q_a')))
    await failsTheBatch(store, asking(question('bg_0', 'q_b', { stepKey: '~ask:q_a' })))
    await failsTheBatch(store, asking(question('bg_1', 'q_a', { stepKey: 'other' })))
    await failsTheBatch(store, settling(question('bg_0', 'q_x', { closed: 'ended' })))
    await failsTheBatch(store, unit({ thread: away, questions: [{ record: question('bg_0', 'q_a'), isNew: false }] }))
    assert.deepEqual(await openOf(store), ['q_a'])
  }),
]
