import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { collectBody, loginBody, messageBody } from '../../../../src/protocol/schemas/bodies.ts'
import { parseClientFrame } from '../../../../src/protocol/schemas/client-frame.ts'
import { type Fault, parse } from '../../../../src/protocol/schemas/parse.ts'
import { logQuery, tasksQuery } from '../../../../src/protocol/schemas/queries.ts'
import { runBody, taskBody } from '../../../../src/protocol/schemas/work.ts'

function faultsOf(refuse: () => unknown): readonly Fault[] {
  try {
    refuse()
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    return (error as { facts: { errors: readonly Fault[] } }).facts.errors
  }
  throw new Error('Nothing is refused')
}

const faults = (schema: z.ZodType, value: unknown) => faultsOf(() => parse(schema, value))

describe('parse', () => {
  it('names every unknown field with its path', () => {
    const value = { agent: 'a', parts: [{ type: 'text', text: 'x', colour: 'red' }], promt: 1, Input: 2 }
    expect(faults(runBody, value)).toEqual([
      { path: 'parts.0.colour', message: 'Unknown field' },
      { path: 'promt', message: 'Unknown field' },
      { path: 'Input', message: 'Unknown field' },
    ])
  })

  it('says which fields are missing', () => {
    expect(faults(runBody, { prompt: 'x' })).toEqual([{ path: 'agent', message: 'Required' }])
    expect(faults(messageBody, {})).toEqual([{ path: 'content', message: 'Required' }])
  })

  it('keeps what it tells short, however much is wrong', () => {
    const value = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}${'x'.repeat(1000)}`, n]))
    const told = faults(collectBody, value)
    expect(told.length).toBeLessThanOrEqual(20)
    expect(JSON.stringify(told).length).toBeLessThan(6000)
  })

  it.each([null, [], 'text', 1, true])('refuses %j, which is no object', (value) => {
    expect(faults(runBody, value)[0]?.path).toBe('')
  })
})

describe('a request for work', () => {
  it.each([
    {},
    { prompt: 'a', input: 1 },
    { prompt: 'a', parts: [{ type: 'text', text: 'a' }] },
    { input: null, prompt: '' },
  ])('needs exactly one of prompt, parts and input, not %j', (ask) => {
    const told = [{ path: '', message: 'Exactly one of prompt, parts and input is needed' }]
    expect(faults(runBody, { agent: 'a', ...ask })).toEqual(told)
    expect(faults(taskBody, { agent: 'a', ...ask })).toEqual(told)
  })

  it.each([{ prompt: '' }, { input: null }, { input: false }, { parts: [{ type: 'data', name: 'x', value: null }] }])(
    'may ask by %j',
    (ask) => {
      expect(parse(runBody, { agent: 'a', ...ask })).toEqual({ agent: 'a', ...ask })
    },
  )

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: 1.5 },
    { timeoutMs: 2 ** 31 },
    { metadata: [] },
    { metadata: 'x' },
    { onBusy: 'wait' },
    { onResult: null },
    { description: 'x'.repeat(1001) },
    { parts: [] },
    { agent: 1 },
  ])('is refused with %j', (field) => {
    expect(faults(runBody, { agent: 'a', prompt: 'x', ...field })).not.toEqual([])
  })
})

describe('a login', () => {
  it('is by a token or a code', () => {
    expect(parse(loginBody, { token: 't' })).toEqual({ token: 't' })
    for (const value of [{}, { token: 't', code: 'c' }, { token: '' }, { token: 1 }]) {
      expect(faults(loginBody, value)).not.toEqual([])
    }
  })
})

describe('a query', () => {
  it('gives numbers', () => {
    expect(parse(logQuery, { after: '17', limit: '1000' })).toEqual({ after: 17, limit: 1000 })
  })

  it.each([
    { limit: '0' },
    { limit: '1001' },
    { limit: '' },
    { limit: '-1' },
    { limit: '1e2' },
    { after: '' },
    { after: '-1' },
    { after: '9007199254740992' },
    { types: '' },
    { types: 'a,,b' },
  ])('is refused with %j', (query) => {
    expect(faults(logQuery, query)).toHaveLength(1)
  })

  it.each([{ status: 'done' }, { status: 'running,over' }, { name: 'a b' }, { thread: 'a/b' }, { cursor: '' }])(
    'of tasks is refused with %j',
    (query) => {
      expect(faults(tasksQuery, query)).toHaveLength(1)
    },
  )
})

describe('a frame', () => {
  it.each([
    { type: 'run', id: 'a', thread: 't', agent: 'echo', prompt: 'x', onBusy: 'steer', idempotencyKey: 'k' },
    { type: 'attach', id: 1, thread: 't', task: 'bg_1', after: 0, types: ['text.delta'] },
    { type: 'detach', thread: 't' },
    { type: 'cancel', id: 'c', thread: 't', scope: 'all', reason: 'enough' },
    { type: 'send', id: 's', thread: 't', task: 'bg_1', content: null },
    { type: 'answer', id: 'q', question: 'q_1', answer: 'yes' },
    { type: 'ping' },
  ])('is taken: %j', (frame) => {
    expect(parseClientFrame(frame)).toEqual(frame)
  })

  it('may have its types as a comma list', () => {
    expect(parseClientFrame({ type: 'attach', thread: 't', types: 'a,b' })).toMatchObject({ types: ['a', 'b'] })
    for (const types of ['', 'a,,b', ',a', 'a, b']) {
      expect(faultsOf(() => parseClientFrame({ type: 'attach', thread: 't', types }))).not.toEqual([])
    }
  })

  it.each([
    { type: 'shout' },
    {},
    null,
    [],
    { type: 'attach' },
    { type: 'attach', thread: 't', after: -1 },
    { type: 'attach', thread: 't', after: '1' },
    { type: 'attach', thread: 't', after: 2 ** 53 },
    { type: 'cancel', task: 'bg_1' },
    { type: 'cancel', thread: 't', task: 'bg_1', scope: 'all' },
    { type: 'send', thread: 't', task: 'bg_1' },
    { type: 'run', thread: 't', agent: 'a' },
    { type: 'run', thread: 't', agent: 'a', prompt: 'x', idempotencyKey: 'has space' },
    { type: 'ping', extra: 1 },
    { type: 'ping', id: {} },
    { type: 'ping', id: 'x'.repeat(1025) },
    { type: 'ping', id: true },
  ])('is refused: %j', (frame) => {
    expect(faultsOf(() => parseClientFrame(frame))).not.toEqual([])
  })
})
