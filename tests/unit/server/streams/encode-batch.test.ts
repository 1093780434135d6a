import { describe, expect, it } from 'vitest'
import { liveSse, ndjson, sse } from '../../../../src/server/streams/encode-batch.ts'
import { FrameBuffer } from '../../../../src/server/streams/frame-buffer.ts'
import { entry, stretch } from './fake-source.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('a batch', () => {
  const batch = [entry(7, '{"text":"ü\u2028"}'), entry(8)]

  it('is frames with ids as SSE, frames without ids as live SSE, and lines as NDJSON', () => {
    expect(text(sse.encode(batch))).toBe('id: 7\ndata: {"text":"ü\u2028"}\n\nid: 8\ndata: {"seq":8}\n\n')
    expect(text(liveSse.encode(batch))).toBe('data: {"text":"ü\u2028"}\n\ndata: {"seq":8}\n\n')
    expect(text(ndjson.encode(batch))).toBe('{"text":"ü\u2028"}\n{"seq":8}\n')
  })

  it('is encoded once for all who are given the same array', () => {
    expect(sse.encode(batch)).toBe(sse.encode(batch))
    expect(ndjson.encode(batch)).toBe(ndjson.encode(batch))
  })

  it('is encoded once for all whose filters let the same events through', () => {
    expect(sse.encode([...batch])).toBe(sse.encode([...batch]))
  })

  it('is encoded anew for those whose filters let others through', () => {
    const [a, b, c] = [entry(1), entry(2), entry(3)]
    expect(text(sse.encode([a, b]))).toContain('id: 2')
    expect(text(sse.encode([a, c]))).not.toContain('id: 2')
    expect(text(sse.encode([a]))).toBe('id: 1\ndata: {"seq":1}\n\n')
  })

  it('has nothing of another that could not be encoded', () => {
    const broken = Object.defineProperty(entry(9), 'text', {
      get: () => {
        throw new Error('broken')
      },
    })
    expect(() => ndjson.encode([entry(8, '"a secret"'), broken])).toThrow('broken')
    expect(text(ndjson.encode([entry(1)]))).toBe('{"seq":1}\n')
  })

  it('is encoded whole, however much it is and whatever its characters take', () => {
    const long = [100, 200_000, 200_000, 100, 400_000, 100].map((length, index) =>
      entry(index, `"${'€'.repeat(length)}"`),
    )
    const whole = long.map(({ text: each }) => `${each}\n`).join('')
    expect(text(ndjson.encode(long))).toBe(whole)
  })
})

describe('events as they are stored', () => {
  const data = ['ü\u2028', 'x'.repeat(100_000), '€'.repeat(100_000), 'last']

  it('are encoded as they are from memory', () => {
    const stored = stretch(7, data)
    const into = new FrameBuffer()
    for (const format of [sse, liveSse, ndjson]) {
      expect(text(format.encodeStored(stored, into))).toBe(text(format.encode(stored.entries())))
    }
  })
})
