import xterm from '@xterm/headless'
import { describe, expect, it } from 'vitest'
import { ConversationScreen } from '../../../../src/cli/attach/conversation-screen.ts'
import { wrap } from '../../../../src/cli/show/wrap.ts'

class Paper {
  readonly terminal: xterm.Terminal
  readonly screen: ConversationScreen

  constructor(columns = 20, rows = 8) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true })
    this.screen = new ConversationScreen(
      (text) => this.terminal.write(text),
      () => this.terminal.cols,
    )
  }

  /** What is on it, above the screen too, once everything is written. */
  async text(): Promise<string> {
    await new Promise<void>((resolve) => this.terminal.write('', resolve))
    const { active } = this.terminal.buffer
    const rows = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
    return rows.join('\n').trimEnd()
  }
}

const footer = { status: 'idle', prompt: '> ', before: '', after: '' }

describe('the screen', () => {
  it('keeps the status and the input under whatever is written', async () => {
    const { screen, ...paper } = withPaper()
    screen.footer({ ...footer, before: 'ab' })
    screen.line('one')
    screen.stream('tw')
    expect(await paper.text()).toBe('one\ntw\nidle\n> ab')
    screen.stream('o\nthr')
    screen.footer({ ...footer, status: 'busy', before: 'abc' })
    screen.stream('ee')
    expect(await paper.text()).toBe('one\ntwo\nthree\nbusy\n> abc')
    screen.line('four')
    screen.close()
    expect(await paper.text()).toBe('one\ntwo\nthree\nfour')
  })

  it('breaks a line that grows beyond the width between words, and shows each letter once', async () => {
    const { screen, ...paper } = withPaper()
    screen.footer(footer)
    for (const letter of 'the quick brown fox jumps over the lazy dog') screen.stream(letter)
    expect(await paper.text()).toBe('the quick brown fox\njumps over the lazy\ndog\nidle\n>')
  })

  it('shows each line once when it scrolls', async () => {
    const { screen, ...paper } = withPaper(20, 5)
    screen.footer(footer)
    for (let count = 1; count <= 20; count += 1) screen.stream(`line ${count}\n`)
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
    expect(await paper.text()).toBe([...lines, 'idle', '>'].join('\n'))
  })

  it.each([12, 30])('draws its last rows anew when the terminal becomes %i wide', async (columns) => {
    const { screen, terminal, ...paper } = withPaper()
    screen.footer({ ...footer, status: 'a status as long' })
    screen.stream('some text to read')
    await paper.text()
    terminal.resize(columns, 8)
    screen.footer({ ...footer, status: 'short' })
    screen.line('end')
    expect((await paper.text()).replace(/\s+/g, ' ')).toBe('some text to read end short >')
  })

  it('shows the end of an input that is too long, with the cursor in it', async () => {
    const { screen, terminal, ...paper } = withPaper()
    screen.footer({ ...footer, before: 'abcdefghijklmnopqrstuvwxyz', after: '' })
    expect(await paper.text()).toBe('idle\n> jklmnopqrstuvwxyz')
    screen.footer({ ...footer, before: 'a\nb', after: 'c' })
    expect(await paper.text()).toBe('idle\n> a⏎bc')
    expect(terminal.buffer.active.cursorX).toBe(5)
  })

  it('measures wide characters as the terminal does', async () => {
    const { screen, ...paper } = withPaper(10)
    screen.footer(footer)
    for (const letter of '漢字漢字漢字漢字') screen.stream(letter)
    expect(await paper.text()).toBe('漢字漢字\n漢字漢字\nidle\n>')
  })
})

describe('a line that is broken', () => {
  it('loses nothing but the space where it is broken', () => {
    expect(wrap('aaa bbb ccc', 7)).toEqual(['aaa bbb', 'ccc'])
    expect(wrap('aaaaaaaaaa', 4)).toEqual(['aaaa', 'aaaa', 'aa'])
    expect(wrap('', 4)).toEqual([''])
  })
})

function withPaper(columns?: number, rows?: number) {
  const paper = new Paper(columns, rows)
  return { screen: paper.screen, terminal: paper.terminal, text: () => paper.text() }
}
