import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Store } from '../../stores/store.ts'
import { accepting, commit, event, home, liveOf, logOf, mailTo, running, step, taskOf, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

const texts: Readonly<Record<string, string>> = {
  'a NUL': 'before\u0000after',
  'lone surrogates': '\ud800 and \udfff, \udc00\ud800',
  'line and paragraph separators': 'a\u2028b\u2029c',
  'tabs and line ends': 'a\tb\nc\r\nd\v\f',
  'emoji and combining marks': '👩‍👩‍👧 e\u0301 \u{10ffff} \ufeff',
  'quotes and SQL': `'; DROP TABLE tasks; -- "\\" $1 ? :a %s`,
  'control characters': Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join(''),
  'DEL and the control characters beyond it': 'a\u007fb\u0080"\u009f\\',
  'what databases write lists with': '{NULL,"a\\"b",{c},}',
  NULL: 'NULL',
  nothing: '',
}

/** Every place of a unit that holds text of people, agents or programs. */
async function keep(store: Store, text: string): Promise<void> {
  const json = JSON.stringify({ text, [text]: [text] })
  const record = running('bg_0', {
    description: text,
    version: text,
    input: json,
    result: json,
    metadata: json,
    usage: { [text]: 1 },
    error: { code: 'agent_error', message: text },
    parent: { call: text, agent: text },
  })
  const events = [event('task.accepted', 'bg_0', { data: json }), event('message.created', undefined, { data: json })]
  const steps = [step('bg_0', 'a', { value: json, failure: { name: text, message: text, code: text } })]
  const mail = [mailTo('bg_0', 'm', { by: text, from: text, content: json, steer: json })]
  const parts = JSON.stringify([{ type: 'text', text }])
  const messages = [{ id: 'm', role: 'user' as const, parts, event: 1 }]
  await commit(store, accepting(record, { events, steps, mail, messages }))
}

async function isKept(store: Store, text: string): Promise<void> {
  const json = JSON.stringify({ text, [text]: [text] })
  const { description, version, input, result, metadata, usage, error, parent } = await taskOf(store, 'bg_0')
  assert.deepEqual([description, version, error?.message, parent?.call, parent?.agent], Array(5).fill(text))
  assert.deepEqual([input, result, metadata], Array(3).fill(json))
  assert.deepEqual(usage, { [text]: 1 })
  assert.deepEqual(
    (await logOf(store)).map((entry) => entry.data),
    [json, json],
  )
  const [recorded] = await store.steps(taskId('bg_0'))
  assert.equal(recorded?.value, json)
  assert.deepEqual(recorded.failure, { name: text, message: text, code: text })
  const [mail] = (await liveOf(store)).mail
  assert.deepEqual([mail?.by, mail?.from, mail?.content, mail?.steer], [text, text, json, json])
  const [message] = (await store.messages(home, { limit: 1 })).messages
  assert.deepEqual(message?.parts, [{ type: 'text', text }])
}

async function comesBack(store: Store, text: string): Promise<void> {
  await keep(store, text)
  await isKept(store, text)
}

export const textCases: StoreCase[] = [
  ...Object.entries(texts).map(([name, text]) =>
    storeCase(`gives text with ${name} back as it was, wherever it stands`, (store) => comesBack(store, text)),
  ),

  storeCase('gives a payload of 1 MiB back as it was, wherever it stands', async (store) => {
    await comesBack(store, 'é\n'.repeat(2 ** 19))
  }),

  storeCase('gives data back as the text it was given, not as another text of the same value', async (store) => {
    const data = [
      '{"b":1.0,"a":1e2,"b":2}',
      '{ "spaced" : [ ] }',
      '"\\u0041\\/"',
      '123456789012345678901234567890',
      '-0',
    ]
    await commit(store, unit({ events: data.map((text) => event('custom', undefined, { data: text })) }))
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.data),
      data,
    )
  }),

  storeCase('keeps a unit of many large events whole', async (store) => {
    const data = JSON.stringify('x'.repeat(200_000))
    const events = Array.from({ length: 20 }, () => event('custom', undefined, { data }))
    await commit(store, unit({ events }))
    const kept = await logOf(store)
    assert.equal(kept.length, 20)
    assert.ok(kept.every((entry) => entry.data === data))
  }),
]
