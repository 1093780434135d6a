import { describe, expect, it } from 'vitest'
import { progressBar } from '../../../../src/cli/show/progress-bar.ts'
import { StatusLine, spinnerFrame } from '../../../../src/cli/show/status-line.ts'
import { fakeSurroundings } from '../fake-surroundings.ts'

describe('the status line', () => {
  it('is drawn on stderr of a terminal, and taken away before anything is written', () => {
    const around = fakeSurroundings({ isTty: true, columns: 10 })
    const status = new StatusLine(around, true, () => 'a long status')
    around.fireTimers()
    expect(around.written.err).toBe('\r\u001b[2K⠋ a long…')
    status.out('data')
    expect(around.written).toEqual({ err: '\r\u001b[2K⠋ a long…\r\u001b[2K', out: 'data' })
  })

  it('is not drawn into a line that has no end yet', () => {
    const around = fakeSurroundings({ isTty: true })
    const status = new StatusLine(around, true, () => 'busy')
    status.out('half a line')
    around.fireTimers()
    expect(around.written.err).toBe('')
    status.out(' and its end\n')
    around.fireTimers()
    expect(around.written.err).toContain('busy')
    status.aside(() => around.err('note\n'))
    expect(around.written).toMatchObject({ out: 'half a line and its end\n' })
    expect(around.written.err.endsWith('\u001b[2Knote\n')).toBe(true)
  })

  it('is nothing where there is no terminal, or nobody wants it', () => {
    for (const [isTty, isOn] of [
      [false, true],
      [true, false],
    ] as const) {
      const around = fakeSurroundings({ isTty })
      const status = new StatusLine(around, isOn, () => 'busy')
      around.fireTimers()
      status.close()
      expect(around.written).toEqual({ out: '', err: '' })
    }
  })

  it('is nothing on a terminal that cannot draw a line twice', () => {
    const around = fakeSurroundings({ isTty: true, env: { TERM: 'dumb' } })
    const status = new StatusLine(around, true, () => 'busy')
    around.fireTimers()
    status.close()
    expect(around.written).toEqual({ out: '', err: '' })
  })

  it('turns', () => {
    expect(new Set([0, 100, 200].map(spinnerFrame)).size).toBe(3)
  })
})

describe('a progress bar', () => {
  it.each([
    [0, '░░░░░░░░░░░░░░░░░░░░ 0 %'],
    [0.5, '██████████░░░░░░░░░░ 50 %'],
    [1, '████████████████████ 100 %'],
    [7, '████████████████████ 100 %'],
  ])('of %d is as long as it is', (value, bar) => {
    expect(progressBar(value)).toBe(bar)
  })
})
