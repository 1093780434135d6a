import { describe, expect, it } from 'vitest'
import { emptyLine, type Key, type Line, type LineAction, press } from '../../../../src/cli/attach/line-editor.ts'

/** Keys by name; whatever is no name is typed letter by letter. */
function typed(line: Line, ...keys: readonly (string | Key)[]): { line: Line; actions: LineAction[] } {
  const all = keys.flatMap((key): Key[] =>
    typeof key === 'string' ? [...key].map((text) => ({ sequence: text })) : [key],
  )
  const actions: LineAction[] = []
  for (const key of all) {
    const [next, action] = press(line, key)
    line = next
    if (action) actions.push(action)
  }
  return { line, actions }
}

const named = (name: string): Key => ({ name, sequence: '' })
const control = (name: string): Key => ({ name, ctrl: true, sequence: '\u0001' })

describe('the line that is typed on', () => {
  it.each([
    ['letters', ['héllo'], 'héllo', ''],
    ['what is erased to the left', ['ab', named('backspace')], 'a', ''],
    ['a whole character, whatever it is made of', ['a👩‍👧', named('backspace')], 'a', ''],
    ['letters in the middle', ['ac', named('left'), 'b'], 'ab', 'c'],
    ['what is erased to the right', ['abc', named('home'), named('delete')], '', 'bc'],
    ['the way back right', ['ab', named('left'), named('left'), named('right')], 'a', 'b'],
    ['both ends', ['ab', named('home'), named('end'), 'c'], 'abc', ''],
    ['the ends by control', ['ab', control('a'), 'x', control('e'), 'y'], 'xaby', ''],
    ['a word that is erased', ['one two  ', control('w')], 'one ', ''],
    ['what is erased to either end', ['abcd', named('left'), named('left'), control('k'), control('u'), 'x'], 'x', ''],
    [
      'no control characters',
      ['a', { sequence: '\u001b[99~' }, { name: 'x', meta: true, sequence: '\u001bx' }],
      'a',
      '',
    ],
    [
      'the line ends of a pasted text',
      [named('paste-start'), 'a', named('return'), 'b', named('paste-end')],
      'a\nb',
      '',
    ],
    [
      'the tabs of a pasted text, and no others',
      [
        { name: 'tab', sequence: '\t' },
        named('paste-start'),
        'a',
        { name: 'tab', sequence: '\t' },
        'b',
        named('paste-end'),
      ],
      'a\tb',
      '',
    ],
  ] as const)('takes %s', (_what, keys, before, after) => {
    const { line, actions } = typed(emptyLine, ...keys)
    expect([line.before, line.after, actions]).toEqual([before, after, []])
  })

  it('is submitted whole, wherever the cursor is, and is empty then', () => {
    const { line, actions } = typed(emptyLine, 'ab', named('left'), named('return'))
    expect(actions).toEqual([{ do: 'submit', text: 'ab' }])
    expect([line.before, line.after]).toEqual(['', ''])
  })

  it('gives back what was typed before, and then what was being written', () => {
    const { line } = typed(emptyLine, 'one', named('return'), 'two', named('return'), 'dra')
    const up = typed(line, named('up'), named('up'), named('up')).line
    expect(up.before).toBe('one')
    expect(typed(up, named('down')).line.before).toBe('two')
    expect(typed(up, named('down'), named('down'), named('down')).line.before).toBe('dra')
  })

  it('keeps neither what is empty nor what was typed twice', () => {
    const { line } = typed(emptyLine, 'a', named('return'), 'a', named('return'), ' ', named('return'))
    expect(line.history).toEqual(['a'])
  })

  it('tells of an interrupt, and of the end of the input on an empty line', () => {
    expect(typed(emptyLine, 'a', control('c')).actions).toEqual([{ do: 'interrupt' }])
    expect(typed(emptyLine, control('d')).actions).toEqual([{ do: 'end' }])
    expect(typed(emptyLine, 'ab', named('left'), control('d')).line.after).toBe('')
  })
})
