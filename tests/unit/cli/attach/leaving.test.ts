import { describe, expect, it } from 'vitest'
import { type Leaving, type LeavingInput, leave, secondThoughtMs } from '../../../../src/cli/attach/leaving.ts'

const interrupt = (at: number, hasWork = true): LeavingInput => ({ type: 'interrupt', at, hasWork })
const key = (text: string): LeavingInput => ({ type: 'key', text })
const due = (at: number): LeavingInput => ({ type: 'due', at })

function left(...inputs: readonly LeavingInput[]): Leaving {
  return inputs.reduce(leave, { is: 'attached' })
}

describe('leaving', () => {
  it('goes at once where nothing is live', () => {
    expect(left(interrupt(0, false))).toEqual({ is: 'gone', cancels: false })
  })

  it('detaches at the first interrupt, and stays for a second thought where something is', () => {
    expect(left(interrupt(100))).toEqual({ is: 'detached', until: 100 + secondThoughtMs })
    expect(left(interrupt(100), due(100 + secondThoughtMs))).toEqual({ is: 'gone', cancels: false })
    expect(left(interrupt(100), key('x'))).toEqual({ is: 'gone', cancels: false })
  })

  it('asks at a second interrupt within the time, and goes at one that comes later', () => {
    expect(left(interrupt(0), interrupt(secondThoughtMs - 1))).toEqual({ is: 'asking' })
    expect(left(interrupt(0), interrupt(secondThoughtMs))).toEqual({ is: 'gone', cancels: false })
  })

  it('waits for the answer however long it takes, and cancels for a y alone', () => {
    const asking = [interrupt(0), interrupt(1)] as const
    expect(left(...asking, due(secondThoughtMs))).toEqual({ is: 'asking' })
    for (const yes of ['y', 'Y']) expect(left(...asking, key(yes))).toEqual({ is: 'gone', cancels: true })
    for (const no of ['n', '\r', 'yes', '\u001b']) {
      expect(left(...asking, key(no))).toEqual({ is: 'gone', cancels: false })
    }
    expect(left(...asking, interrupt(2))).toEqual({ is: 'gone', cancels: false })
  })

  it('is not undone', () => {
    expect(left(interrupt(0, false), interrupt(1), key('y'))).toEqual({ is: 'gone', cancels: false })
  })
})
