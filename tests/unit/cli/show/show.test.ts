import { describe, expect, it } from 'vitest'
import { createShow } from '../../../../src/cli/show/show.ts'
import { statusWord } from '../../../../src/cli/show/status-word.ts'
import { wholeList } from '../../../../src/cli/tasks/whole-list.ts'
import { fakeSurroundings } from '../fake-surroundings.ts'

const plain = { json: false, quiet: false, color: false }

describe('what a command shows', () => {
  it('is a document on many lines on a terminal, and on one in a pipe', () => {
    const terminal = fakeSurroundings({ isTty: true })
    const pipe = fakeSurroundings()
    createShow(terminal, plain).json({ a: 1 })
    createShow(pipe, plain).json({ a: 1 })
    createShow(terminal, plain).jsonLine({ a: 1 })
    expect(terminal.written.out).toBe('{\n  "a": 1\n}\n{"a":1}\n')
    expect(pipe.written.out).toBe('{"a":1}\n')
  })

  it('hints on stderr, but not to programs and not to those who want quiet', () => {
    const around = fakeSurroundings()
    createShow(around, { ...plain, json: true }).hint('a')
    createShow(around, { ...plain, quiet: true }).hint('b')
    createShow(around, { ...plain, quiet: true }).notice('c')
    expect(around.written).toEqual({ out: '', err: '' })
    createShow(around, { ...plain, json: true }).notice('d')
    createShow(around, plain).hint('e\u001b[2J\nf')
    expect(around.written).toEqual({ out: '', err: 'd\ne f\n' })
  })

  it('has colours only if it may', () => {
    const around = fakeSurroundings({ isTty: true })
    expect(createShow(around, plain).style.red('x')).toBe('x')
    expect(createShow(around, { ...plain, color: true }).style.red('x')).toBe('\u001b[31mx\u001b[39m')
  })

  it('says of a running task that is asked to stop that it is cancelling', () => {
    expect(statusWord({ status: 'running' }).word).toBe('running')
    expect(statusWord({ status: 'running', cancelRequestedAt: 1 }).word).toBe('cancelling')
    expect(statusWord({ status: 'cancelled', cancelRequestedAt: 1 }).word).toBe('cancelled')
  })
})

describe('a list', () => {
  const read = async ({ limit, cursor = '0' }: { readonly limit: number; readonly cursor?: string }) => {
    const start = Number(cursor)
    const items = Array.from({ length: Math.min(limit, 2500 - start) }, (_, index) => start + index)
    return { items, cursor: start + items.length < 2500 ? String(start + items.length) : undefined }
  }

  it('is whole, however many pages it has', async () => {
    expect(await wholeList(read)).toEqual(Array.from({ length: 2500 }, (_, index) => index))
  })

  it('has as many as are wanted, and asks for no more', async () => {
    expect(await wholeList(read, 1001)).toHaveLength(1001)
    expect(await wholeList(read, 3)).toEqual([0, 1, 2])
  })
})
