import { APICallError } from 'ai'
import { describe, expect, it } from 'vitest'
import type { StreamPart } from '../../../src/ai-sdk/stream-part.ts'
import { recordedParts, type StreamRecord, StreamRecorder } from '../../../src/ai-sdk/stream-record.ts'

/** The parts as they come back from a record, which is JSON in between. */
function again(parts: readonly StreamPart[]): StreamPart[] {
  const recorder = new StreamRecorder()
  for (const part of parts) recorder.add(part)
  return recordedParts(JSON.parse(JSON.stringify(recorder.record())) as StreamRecord)
}

function deltas(id: string, ...texts: string[]): StreamPart[] {
  return texts.map((delta) => ({ type: 'text-delta', id, delta }))
}

describe('the record of a model stream', () => {
  it('joins the deltas that follow each other in one block', () => {
    const metadata = { provider: { signature: 'x' } }
    const signed = { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: metadata } as const
    expect(
      again([
        ...deltas('1', 'a', 'b'),
        ...deltas('2', 'c'),
        ...deltas('1', 'd', 'e'),
        { type: 'reasoning-delta', id: '1', delta: 'f' },
        { type: 'reasoning-delta', id: '1', delta: 'g' },
        signed,
        { type: 'raw', rawValue: {} },
        { type: 'tool-input-delta', id: '3', delta: '{' },
        { type: 'tool-input-delta', id: '3', delta: '}' },
      ]),
    ).toEqual([
      ...deltas('1', 'ab'),
      ...deltas('2', 'c'),
      ...deltas('1', 'de'),
      { type: 'reasoning-delta', id: '1', delta: 'fg' },
      signed,
      { type: 'tool-input-delta', id: '3', delta: '{}' },
    ])
  })

  it('brings back instants, addresses and bytes', () => {
    const parts: StreamPart[] = [
      { type: 'response-metadata', id: 'r', timestamp: new Date(5), modelId: 'm' },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a.png') } },
    ]
    expect(again(parts)).toEqual(parts)
    const bytes: StreamPart = {
      type: 'file',
      mediaType: 'a/b',
      data: { type: 'data', data: new Uint8Array([1, 2, 3]) },
    }
    expect(again([bytes])).toEqual([{ ...bytes, data: { type: 'data', data: 'AQID' } }])
  })

  it('brings back errors with what decides about a retry', () => {
    const call = new APICallError({
      message: 'busy',
      url: 'http://x/',
      requestBodyValues: { secret: 'prompt' },
      statusCode: 503,
      isRetryable: true,
    })
    const [busy, plain, odd] = again([
      { type: 'error', error: call },
      { type: 'error', error: Object.assign(new TypeError('bad'), { code: 'E_BAD' }) },
      { type: 'error', error: { odd: 1 } },
    ]).map((part) => (part.type === 'error' ? part.error : undefined))
    expect(APICallError.isInstance(busy) && busy).toMatchObject({
      message: 'busy',
      statusCode: 503,
      isRetryable: true,
      requestBodyValues: {},
      responseHeaders: { 'retry-after-ms': '0' },
    })
    expect(plain).toMatchObject({ name: 'TypeError', message: 'bad', code: 'E_BAD' })
    expect(odd).toMatchObject({ name: 'Error', message: 'The agent threw {"odd":1}' })
  })
})
