import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ServerFrame } from '../../../../src/protocol/frames.ts'
import { eventFrames, serverMessage } from '../../../../src/server/websocket/encode-frames.ts'

interface Read {
  readonly opcode: number
  readonly isLast: boolean
  readonly text: Buffer
}

describe('the frames of a server', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 262_000])('carry a message of about %i bytes in one frame', (length) => {
    const frame = pong(length)
    const message = serverMessage(frame)
    if (!Buffer.isBuffer(message)) throw new Error('It is short')
    const [only, ...more] = read(message)
    expect(more).toEqual([])
    expect(only).toMatchObject({ opcode: 1, isLast: true })
    expect(only?.text.toString()).toBe(JSON.stringify(frame))
  })

  it.each([
    ['x', 262_145],
    ['é', 131_073],
    ['\u0000', 50_000],
    ['漢', 1_000_000],
  ])('carry a longer one, of %j, in pieces, of which the last says so', (character, count) => {
    const frame = { type: 'pong', id: character.repeat(count) } as const
    const message = serverMessage(frame)
    if (Buffer.isBuffer(message)) throw new Error('It is long')
    const made = [...{ [Symbol.iterator]: () => message }]
    for (const { length } of made) expect(length).toBeLessThanOrEqual(64 * 1024 + 10)
    const frames = read(Buffer.concat(made))
    expect(frames).toHaveLength(made.length)
    expect(frames.map(({ opcode }) => opcode)).toEqual([1, ...frames.slice(1).map(() => 0)])
    expect(frames.map(({ isLast }) => isLast)).toEqual([...frames.slice(1).map(() => false), true])
    expect(Buffer.concat(frames.map(({ text }) => text)).toString()).toBe(JSON.stringify(frame))
  })

  it('carry each event as it is, under any id', () => {
    const id = fc.oneof(fc.string({ minLength: 1, maxLength: 128, unit: 'binary' }), fc.maxSafeInteger())
    const data = fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(id, data, (frameId, texts) => {
        const entries = texts.map((text, index) => ({ seq: index, type: 'x', text: JSON.stringify({ text }) }))
        const frames = read(Buffer.concat(eventFrames(entries, frameId)))
        const prefix = `{"type":"event","id":${JSON.stringify(frameId)},"event":`
        expect(frames.map(({ text }) => text.toString())).toEqual(entries.map(({ text }) => `${prefix}${text}}`))
        expect(frames.every(({ opcode, isLast }) => opcode === 1 && isLast)).toBe(true)
      }),
    )
  })

  it('are joined into groups that are not larger than an event needs', () => {
    const small = { seq: 1, type: 'x', text: JSON.stringify('x'.repeat(1000)) }
    const large = { seq: 2, type: 'x', text: JSON.stringify('x'.repeat(300_000)) }
    const groups = eventFrames([...Array.from({ length: 600 }, () => small), large, small], 1)
    expect(groups.map((group) => read(group).length).reduce((a, b) => a + b)).toBe(602)
    const sizes = groups.map((group) => group.length)
    expect(sizes.filter((size) => size > 256 * 1024)).toHaveLength(1)
    expect(groups).toHaveLength(5)
  })

  it('are made once for all that share a batch and an id', () => {
    const entries = [{ seq: 1, type: 'x', text: '{}' }]
    const groups = eventFrames(entries, 'a')
    expect(eventFrames(entries, 'a')).toBe(groups)
    expect(eventFrames(entries, 'b')).not.toBe(groups)
    expect(eventFrames(entries, 'a')).toBe(groups)
  })
})

/** Of that many bytes, or of as few as there are. */
function pong(bytes: number): ServerFrame {
  const { length } = JSON.stringify({ type: 'pong', id: '' })
  return { type: 'pong', id: 'x'.repeat(Math.max(0, bytes - length)) }
}

function read(bytes: Buffer): Read[] {
  const frames: Read[] = []
  for (let at = 0; at < bytes.length; ) {
    const first = bytes.readUInt8(at)
    const short = bytes.readUInt8(at + 1)
    const [start, length] =
      short < 126
        ? [at + 2, short]
        : short === 126
          ? [at + 4, bytes.readUInt16BE(at + 2)]
          : [at + 10, Number(bytes.readBigUInt64BE(at + 2))]
    at = start + length
    frames.push({ opcode: first & 0x0f, isLast: (first & 0x80) !== 0, text: bytes.subarray(start, at) })
  }
  return frames
}
