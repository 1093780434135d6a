import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventType, StoredEvent } from '../../../src/core/event.ts'
import { assistantParts, hasOutput, PartsFold } from '../../../src/core/parts.ts'
import { foldParts } from './fold-parts.ts'

type Emit = readonly [type: EventType, data: unknown]

function fold(...emits: Emit[]): PartsFold {
  const parts = new PartsFold()
  for (const [type, data] of emits) parts.add({ type, data: JSON.stringify(data) })
  return parts
}

const say = (text: string): Emit => ['text.delta', { text }]
const think = (text: string): Emit => ['thinking', { text }]
const call = (id: string, input: unknown = {}): Emit => ['tool.call', { id, name: 'search', input }]
const result = (id: string, output: unknown): Emit => ['tool.result', { id, output }]
const answer = (output: unknown): Emit => ['answer', { output }]

describe('PartsFold', () => {
  it('joins text that follows text, and reasoning that follows reasoning', () => {
    const { parts } = fold(say('a'), say('b'), think('c'), think('d'), say('e'))
    expect(parts).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'reasoning', text: 'cd' },
      { type: 'text', text: 'e' },
    ])
  })

  it('starts a new text after a call, not after its result', () => {
    const { parts } = fold(say('a'), call('1'), say('b'), result('1', 7), say('c'))
    expect(parts).toEqual([
      { type: 'text', text: 'a' },
      { type: 'tool', id: '1', name: 'search', input: {}, output: 7 },
      { type: 'text', text: 'bc' },
    ])
  })

  it('has files where they were put out', () => {
    const file = { mediaType: 'image/png', name: 'a.png', url: 'https://example.org/a.png' }
    const output = fold(say('a'), ['file', file], say('b'))
    expect(output.parts).toEqual([
      { type: 'text', text: 'a' },
      { type: 'file', ...file },
      { type: 'text', text: 'b' },
    ])
    expect(hasOutput(fold(['file', file]))).toBe(true)
  })

  it('joins over events that are no parts, and does not parse them', () => {
    const parts = fold(say('a'))
    parts.add({ type: 'progress', data: 'not JSON' })
    parts.add({ type: 'task.resumed', data: 'not JSON' })
    parts.add({ type: 'of.the.future', data: 'not JSON' })
    parts.add({ type: 'text.delta', data: '{"text":"b"}' })
    expect(parts.parts).toEqual([{ type: 'text', text: 'ab' }])
  })

  it('takes an empty delta for nothing', () => {
    const parts = fold(say(''), think('x'), say(''), think('y'))
    expect(parts.parts).toEqual([{ type: 'reasoning', text: 'xy' }])
    expect(hasOutput(parts)).toBe(false)
  })

  it('fills the output or the error of the call with that id', () => {
    const { parts } = fold(call('1'), call('2'), ['tool.result', { id: '2', error: 'no' }], result('1', null))
    expect(parts).toEqual([
      { type: 'tool', id: '1', name: 'search', input: {}, output: null },
      { type: 'tool', id: '2', name: 'search', input: {}, error: 'no' },
    ])
  })

  it('ignores the result of an unknown call, and a second result', () => {
    const { parts } = fold(result('0', 'x'), call('1'), result('1', 'first'), result('1', 'second'))
    expect(parts).toEqual([{ type: 'tool', id: '1', name: 'search', input: {}, output: 'first' }])
  })

  it('lists calls without a result in the order of the calls', () => {
    expect(fold(call('b'), call('a'), call('c'), result('a', 1)).openCalls).toEqual(['b', 'c'])
    expect(fold(call('a'), ['tool.result', { id: 'a', outputOmitted: true }]).openCalls).toEqual([])
  })

  it('takes a call repeated before its result for the same call, and one after it for another', () => {
    expect(fold(call('1', 'old'), say('x'), call('1', 'new')).parts).toMatchObject([{ input: 'new' }, { text: 'x' }])
    const again = fold(call('1'), result('1', 'one'), call('1'), result('1', 'two'))
    expect(again.parts).toMatchObject([{ output: 'one' }, { output: 'two' }])
  })

  it('has output if there is more than reasoning', () => {
    expect(hasOutput(fold())).toBe(false)
    expect(hasOutput(fold(think('x')))).toBe(false)
    expect(hasOutput(fold(think('x'), say('y')))).toBe(true)
    expect(hasOutput(fold(call('1')))).toBe(true)
    expect(hasOutput(fold(answer(null)))).toBe(true)
  })

  it('remembers the last answer and all that was said', () => {
    const parts = fold(say('a'), answer(1), call('1'), say('b'), answer({ n: 2 }))
    expect(parts.answer).toEqual({ output: { n: 2 } })
    expect(parts.said).toBe('ab')
    expect(fold(say('a')).answer).toBeUndefined()
  })

  it('joins a hundred thousand deltas', () => {
    const parts = new PartsFold()
    const data = JSON.stringify({ text: '0123456789' })
    for (let n = 0; n < 100_000; n += 1) parts.add({ type: 'text.delta', data })
    expect(parts.said).toBe('0123456789'.repeat(100_000))
  })
})

describe('the fold of any emits', () => {
  const id = fc.constantFrom('1', '2', '3')
  const word = fc.string({ maxLength: 3 })
  const emit: fc.Arbitrary<Emit> = fc.oneof(
    word.map(say),
    word.map(think),
    fc.tuple(id, word).map(([call_, input]) => call(call_, input)),
    fc.tuple(id, word).map(([call_, output]) => result(call_, output)),
    word.map(answer),
    fc.constant<Emit>(['progress', { value: 1 }]),
  )
  const emits = fc.array(emit, { maxLength: 30 })

  it('is not changed by what is added to its clone, nor the clone by what is added to it', () => {
    fc.assert(
      fc.property(emits, emits, emits, (before, here, there) => {
        const original = fold(...before)
        const clone = original.clone()
        const parts = original.parts
        for (const [type, data] of here) original.add({ type, data: JSON.stringify(data) })
        for (const [type, data] of there) clone.add({ type, data: JSON.stringify(data) })
        expect(seen(original)).toEqual(seen(fold(...before, ...here)))
        expect(seen(clone)).toEqual(seen(fold(...before, ...there)))
        expect(parts).toEqual(fold(...before).parts)
      }),
    )
  })

  it('loses no text, has no two neighbours of one kind, and leaves open exactly the calls without a result', () => {
    fc.assert(
      fc.property(emits, (all) => {
        const { parts, openCalls, said } = fold(...all)
        const text = (type: EventType) =>
          all.flatMap(([each, data]) => (each === type ? (data as { text: string }).text : [])).join('')
        expect(said).toBe(text('text.delta'))
        expect(parts.flatMap((part) => (part.type === 'reasoning' ? part.text : [])).join('')).toBe(text('thinking'))
        for (const [index, part] of parts.entries()) {
          if (part.type !== 'tool') expect(part.type).not.toBe(parts[index - 1]?.type)
        }
        const open = parts.flatMap((part) => (part.type === 'tool' && part.output === undefined ? part.id : []))
        expect(openCalls).toEqual(open)
      }),
    )
  })

  function seen({ parts, openCalls, answer: last, said }: PartsFold): unknown {
    return { parts, openCalls, last, said }
  }
})

describe('assistantParts', () => {
  it('adds nothing if there is no answer', () => {
    expect(assistantParts(fold(say('a')))).toEqual([{ type: 'text', text: 'a' }])
    expect(assistantParts(fold())).toEqual([])
  })

  it('shows a string as text if nothing was said', () => {
    expect(assistantParts(fold(think('hm'), call('1'), answer('42')))).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'tool', id: '1', name: 'search', input: {} },
      { type: 'text', text: '42' },
    ])
  })

  it('shows anything else as a data part', () => {
    expect(assistantParts(fold(answer({ n: 1 })))).toEqual([{ type: 'data', name: 'answer', value: { n: 1 } }])
    expect(assistantParts(fold(answer(null)))).toEqual([{ type: 'data', name: 'answer', value: null }])
    expect(assistantParts(fold(say('so'), answer('42')))).toEqual([
      { type: 'text', text: 'so' },
      { type: 'data', name: 'answer', value: '42' },
    ])
  })
})

describe('foldParts', () => {
  const log = (...entries: (readonly [seq: number, ...Emit])[]): StoredEvent[] =>
    entries.map(([seq, type, data]) => ({ seq, at: 0, type, data: JSON.stringify(data) }))
  const resumed = (keep: number, dropped?: unknown): Emit => ['task.resumed', { attempt: 2, node: 'n', keep, dropped }]

  it('leaves out what was emitted after keep and before the resume', () => {
    const events = log([2, ...say('a')], [3, ...say('b')], [5, ...say('c')], [6, ...resumed(3)], [7, ...say('d')])
    expect(foldParts(events).said).toBe('abd')
  })

  it('leaves out what was emitted within dropped, ends included', () => {
    const texts = [1, 2, 3, 4, 5, 6].map((seq) => [seq, ...say(`${seq}`)] as const)
    const dropped = [
      [2, 2],
      [4, 5],
    ]
    expect(foldParts(log(...texts, [7, ...resumed(6, dropped)], [8, ...say('8')])).said).toBe('1368')
    expect(foldParts(log(...texts, [7, ...resumed(6, dropped.toReversed())])).said).toBe('136')
  })

  it('obeys every resume, each for what came before it', () => {
    const events = log(
      [1, ...say('1')],
      [2, ...say('2')],
      [3, ...resumed(1)],
      [4, ...say('4')],
      [5, ...say('5')],
      [6, ...resumed(5, [[4, 4]])],
      [7, ...say('7')],
    )
    expect(foldParts(events).said).toBe('157')
  })

  it('opens a call again whose result was abandoned', () => {
    const events = log([1, ...call('1')], [2, ...result('1', 'lost')], [3, ...resumed(1)])
    expect(foldParts(events).openCalls).toEqual(['1'])
  })
})
