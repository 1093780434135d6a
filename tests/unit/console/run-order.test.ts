import { describe, expect, it } from 'vitest'
import { type Piece, type Places, piecesOf, placesIn } from '../../../console/src/views/thread/run-order.ts'
import type { Asked, RunEntry } from '../../../console/src/views/thread/transcript.ts'
import type { Message, Part, Task, ThreadEvent } from '../../../src/client/index.ts'

const event = (seq: number, type: string, data: object) => ({ seq, type, task: 'bg_0', data }) as ThreadEvent
const said = (seq: number, text: string) => event(seq, 'text.delta', { text })
const spawned = (seq: number, id: string) => event(seq, 'task.accepted', { task: { id } })
const asked = (seq: number, id: string) => event(seq, 'question.asked', { question: { id } })
const read = (seq: number, id: string) => event(seq, 'message.created', { message: { id } })

describe('the place of what happened in a run', () => {
  it('is how much the run had put out', () => {
    const outputs = [
      said(2, 'ONE'),
      event(3, 'tool.call', { id: 'c' }),
      event(4, 'thinking', { text: 'hm' }),
      said(7, 'TWO'),
    ]
    const marks = [asked(1, 'q1'), spawned(5, 'bg_1'), asked(6, 'q2'), read(8, 'm1'), spawned(9, 'bg_2')]
    expect([...placesIn(outputs, marks)]).toEqual([
      ['q1', 0],
      ['bg_1', 6],
      ['q2', 6],
      ['m1', 9],
      ['bg_2', 9],
    ])
  })

  it('does not count what a resume abandoned, nor a call that is told again', () => {
    const outputs = [
      said(2, 'ONE'),
      said(3, 'gone'),
      event(4, 'task.resumed', { keep: 2 }),
      event(5, 'tool.call', { id: 'c' }),
      event(6, 'tool.call', { id: 'c' }),
      event(7, 'tool.result', { id: 'c' }),
      event(8, 'tool.call', { id: 'c' }),
    ]
    expect(placesIn(outputs, [asked(9, 'q')]).get('q')).toBe(5)
  })
})

const text = (words: string): Part => ({ type: 'text', text: words })
const tool = { type: 'tool', id: 'c', name: 'look', input: {} } as Part
const answer = { type: 'data', name: 'answer', value: 1 } as Part
const child = (id: string) => ({ id }) as Task
const closed = (id: string) => ({ question: { id }, end: { closed: 'ended' } }) as Asked
const open = (id: string) => ({ question: { id } }) as Asked
const told = (id: string) => ({ id }) as Message

function order(entry: Partial<RunEntry>, places: Places): string[] {
  const whole = { parts: [], children: [], questions: [], steering: [], ...entry } as unknown as RunEntry
  return piecesOf(whole, places).map((piece: Piece) => {
    if ('asked' in piece) return piece.asked.question.id
    if ('said' in piece) return piece.said.id
    if ('children' in piece) return piece.children.map(({ id }) => id).join('+')
    return 'text' in piece.part ? piece.part.text : piece.part.type
  })
}

describe('a run', () => {
  it('is cut where something happened between its sentences', () => {
    const places = new Map([
      ['q', 4],
      ['bg_1', 8],
      ['m1', 15],
    ])
    const happened = { questions: [closed('q')], children: [child('bg_1')], steering: [told('m1')] }
    const entry = { parts: [text('One.Two.Three. Four.')], ...happened }
    expect(order(entry, places)).toEqual(['One.', 'q', 'Two.', 'bg_1', 'Three. ', 'm1', 'Four.'])
  })

  it('is not cut in the middle of a sentence, but after it, though that may be yet to come', () => {
    const places = new Map([
      ['bg_1', 3],
      ['q', 5],
    ])
    const entry = { children: [child('bg_1')], questions: [closed('q')] }
    expect(order({ ...entry, parts: [text('It is 3.')] }, places)).toEqual(['It is 3.', 'bg_1', 'q'])
    expect(order({ ...entry, parts: [text('It is 3.5 or so. And so on')] }, places)).toEqual([
      'It is 3.5 or so. ',
      'bg_1',
      'q',
      'And so on',
    ])
  })

  it.each([
    ['a fence', 'Code:\n```js\na. \n\nb\n```\nAfter it. \n\n', 'Next.'],
    ['a list', '- One. Still one.\n- Two.\n\n- Three.\n\n', 'Next.'],
    ['strong words', 'So: **one. Two. Three.** ', 'Next.'],
    ['a table', 'a. | b. \n--|--\nc. | d. \n\n', 'Next.'],
  ])('is cut after %s that something happened in', (_what, block, next) => {
    const entry = { parts: [text(block + next), tool], children: [child('bg_1')] }
    expect(order(entry, new Map([['bg_1', 11]]))).toEqual([block, 'bg_1', next, 'tool'])
  })

  it('that is over begins with what it was told if nobody knows where; one at work ends with it', () => {
    const entry = { parts: [text('One.')], steering: [told('m1')] }
    expect(order(entry, new Map())).toEqual(['m1', 'One.'])
    expect(order({ ...entry, isLive: true }, new Map())).toEqual(['One.', 'm1'])
  })

  it('has what happened between its parts between them, and its answer last', () => {
    const places = new Map([
      ['bg_1', 0],
      ['bg_2', 3],
      ['bg_3', 4],
      ['bg_4', 4],
    ])
    const children = ['bg_1', 'bg_2', 'bg_3', 'bg_4'].map(child)
    expect(order({ parts: [text('ONE'), tool, answer], children }, places)).toEqual([
      'bg_1',
      'ONE',
      'bg_2',
      'tool',
      'bg_3+bg_4',
      'data',
    ])
  })

  it('keeps the order of what happened at one place', () => {
    const places = new Map([
      ['q1', 3],
      ['bg_1', 3],
      ['q2', 3],
    ])
    const entry = { parts: [text('ONE')], children: [child('bg_1')], questions: [closed('q1'), closed('q2')] }
    expect(order(entry, places)).toEqual(['ONE', 'q1', 'bg_1', 'q2'])
  })

  it('goes by when things happened, whatever the order in which they are known', () => {
    const places = new Map([
      ['bg_2', 4],
      ['q', 4],
      ['bg_1', 6],
    ])
    const entry = { parts: [text('Yes.No')], children: [child('bg_1'), child('bg_2')], questions: [closed('q')] }
    expect(order(entry, places)).toEqual(['Yes.', 'bg_2', 'q', 'No', 'bg_1'])
  })

  it('keeps the keys of its parts when it goes on, and when something is put before one or into it', () => {
    const keysOf = (parts: Part[], places: Places) => {
      const children = [...places.keys()].map(child)
      const pieces = piecesOf({ parts, children, questions: [], steering: [] } as unknown as RunEntry, places)
      return pieces.flatMap((piece) => ('key' in piece ? piece.key : []))
    }
    const before = keysOf([text('Ja.Nee'), tool], new Map())
    expect(before).toEqual(['0-0', '1-0'])
    expect(keysOf([text('Ja.Nee'), tool, text('THREE')], new Map([['bg_1', 0]]))).toEqual([...before, '2-0'])
    const cut = keysOf([text('Ja.Nee'), tool], new Map([['bg_1', 3]]))
    expect(cut).toEqual(['0-0', '0-3', '1-0'])
    const both = new Map([
      ['bg_1', 3],
      ['bg_2', 6],
    ])
    expect(keysOf([text('Ja.Nee'), tool], both)).toEqual(cut)
  })

  it('ends with what it still asks, and with what is not known to have happened elsewhere', () => {
    const entry = { parts: [text('ONE')], children: [child('bg_1')], questions: [open('q')] }
    expect(order(entry, new Map([['q', 0]]))).toEqual(['ONE', 'bg_1', 'q'])
  })
})
