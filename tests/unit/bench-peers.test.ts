import { describe, expect, it } from 'vitest'
import { readFlags } from '../../bench/peers/flags.ts'
import { type Line, ratio, referenceOf, tableText, valueText } from '../../bench/peers/table.ts'

const ours: Line = { title: 'ours', keeps: 'all', cells: { '1x1': { value: 200_000 }, first: { value: 2 } } }
const slow: Line = { title: 'slow', keeps: 'nothing', cells: { '1x1': { value: 1_000 }, first: { value: 8 } } }
const limit: Line = {
  title: 'limit',
  keeps: 'nothing',
  isLimit: true,
  cells: { '1x1': { value: 400_000 }, first: { reason: 'it has none' } },
}
const isOurs = ({ title }: Line) => title === 'ours'

describe('the table of peers', () => {
  it('has a ratio above 1 where a peer does more per second', () => {
    expect(ratio('1x1', 300, 100)).toBe(3)
  })

  it('has a ratio above 1 where a peer takes less time or memory', () => {
    expect(ratio('first', 2, 8)).toBe(4)
    expect(ratio('parked', 5, 10)).toBe(2)
  })

  it('compares with the reference though another is better', () => {
    expect(referenceOf('1x1', [slow, ours, limit], isOurs)).toBe(200_000)
  })

  it('compares with the best peer, and with no limit, where the reference was not measured', () => {
    expect(referenceOf('1x1', [slow, limit], isOurs)).toBe(1_000)
    expect(referenceOf('first', [slow, { ...ours, title: 'other' }], isOurs)).toBe(2)
    expect(referenceOf('cancel', [slow], isOurs)).toBeUndefined()
  })

  it('shows three digits of a rate, and as many decimals as a time has use for', () => {
    expect(valueText('1x1', 123_456)).toBe('123,000/s')
    expect(valueText('first', 1.234)).toBe('1.23 ms')
    expect(valueText('replay', 45.67)).toBe('45.7 ms')
    expect(valueText('subscriber', 456.7)).toBe('457 kB')
  })

  it('is Markdown with one line per peer, and a reason below it for every dash', () => {
    expect(tableText([ours, slow, limit], ['1x1', 'first'], isOurs).split('\n')).toEqual([
      '|       | keeps   | 1 run × 1        | first event    |',
      '|-------|---------|------------------|----------------|',
      '| ours  | all     | 200,000/s (1.0)  | 2.00 ms (1.0)  |',
      '| slow  | nothing | 1,000/s (0.0050) | 8.00 ms (0.25) |',
      '| limit | nothing | 400,000/s (2.0)  | –              |',
      '',
      '- limit has no first event: it has none',
    ])
  })

  it('has a dash where nothing was measured, and each reason once', () => {
    const text = tableText([ours], ['1x1', 'replay', 'cancel'], isOurs)
    expect(text).toContain('| 200,000/s (1.0) | –          | –      |')
    expect(text).toContain('\n- ours has no replay 10k, cancel: not measured')
  })
})

describe('the flags of bench:peers', () => {
  const read = (...args: string[]) => readFlags(args, ['a', 'b'] as const, ['x', 'y', 'z'] as const)

  it('are everything at length by default', () => {
    expect(read()).toEqual({ only: ['a', 'b'], rows: ['x', 'y', 'z'], isQuick: false })
  })

  it('choose peers and rows, in the order of the table', () => {
    expect(read('--only', 'b', '--rows', 'z,x', '--quick')).toEqual({ only: ['b'], rows: ['x', 'z'], isQuick: true })
  })

  it('refuse a name that is not known and tell those that are', () => {
    expect(() => read('--rows', 'w')).toThrow('--rows: there is no w; choose from x, y, z')
  })
})
