import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventFrames, textFrames } from '../../../../src/server/websocket/encode-frames.ts'

interface Read {
  readonly opcode: number
  readonly isLast: boolean
  readonly text: Buffer
}

describe('the frames of a server', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 524_288])('carry a text of %i bytes in one frame', (length) => {
    const text = 'x'.repeat(length)
    const frames = read(Buffer.concat(textFrames(text)))
    expect(frames).toHaveLength(1)
    expect(frames[0]).toMatchObject({ opcode: 1, isLast: true })
    expect(frames[0]?.text.toString()).toBe(text)
  })

  it('carry a longer text in pieces, of which the last says so', () => {
    const text = 'é'.repeat(300_000)
    const frames = read(Buffer.concat(textFrames(text)))
    expect(frames.length).toBeGreaterThan(1)
    expect(frames.map(({ opcode }) => opcode)).toEqual([1, ...frames.slice(1).map(() => 0)])
    expect(frames.map(({ isLast }) => isLast)).toEqual([...frames.slice(1).map(() => false), true])
    expect(Buffer.concat(frames.map((frame) => frame.text)).toString()).toBe(text)
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
