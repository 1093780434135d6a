import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import {
  ndjsonBeat,
  ndjsonLine,
  sseComment,
  sseFrame,
  sseLiveFrame,
  sseRetry,
} from '../../../src/protocol/event-stream.ts'

const hostile = 'CR\r LF\n NUL\u0000 line\u2028 paragraph\u2029 escape\u001b[31m \ud800'

describe('event streams', () => {
  it('have frames of an id and one line of data', () => {
    expect(sseFrame({ seq: 7, text: '{"a":1}' })).toBe('id: 7\ndata: {"a":1}\n\n')
    expect(sseLiveFrame({ text: '{"a":1}' })).toBe('data: {"a":1}\n\n')
    expect(ndjsonLine({ text: '{"a":1}' })).toBe('{"a":1}\n')
  })

  it('are read back as they were written, whatever the text holds', () => {
    const seen: unknown[] = []
    const retries: number[] = []
    const parser = createParser({ onEvent: (event) => seen.push(event), onRetry: (ms) => retries.push(ms) })
    const text = JSON.stringify({ hostile })
    parser.feed(sseRetry + sseFrame({ seq: 1, text }) + sseComment + sseLiveFrame({ text }))
    expect(seen).toEqual([
      { id: '1', event: undefined, data: text },
      { id: undefined, event: undefined, data: text },
    ])
    expect(retries).toEqual([1000])
  })

  it('have one line per event as NDJSON, and a beat that is an empty line', () => {
    const lines = (ndjsonLine({ text: JSON.stringify(hostile) }) + ndjsonBeat).split('\n')
    expect(lines).toEqual([JSON.stringify(hostile), '', ''])
  })
})
