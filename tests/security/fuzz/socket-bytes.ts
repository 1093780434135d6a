import { z } from 'zod'
import { frame } from '../../../src/chaos/hostile/frame.ts'
import { badUtf8 } from '../../../src/chaos/hostile/words.ts'
import type { SeededRandom } from '../../../src/chaos/seeded-random.ts'
import { clientFrame } from '../../../src/protocol/schemas/client-frame.ts'
import { mutated } from './mutate.ts'
import { type Maker, madeValue, pickFrom, type Schema } from './schema-values.ts'

const schema = z.toJSONSchema(clientFrame, { io: 'input', unrepresentable: 'any' }) as Schema

const continuation = 0
const text = 1
const ping = 9

/** The bytes of a request for a WebSocket. */
export function handshake(host: string, token: string): Buffer {
  const lines = [
    'GET /v1/ws HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Answered after everything before it, unless the connection was closed for that. */
export const farewell = frame(Buffer.from('{"type":"ping","id":"the last"}'))

/** Some messages of the right form, most of them with a wrong value somewhere, in whole frames or in pieces. */
export function fuzzedMessages(maker: Maker): Buffer {
  const { random } = maker
  const messages = Array.from({ length: 1 + random.below(5) }, () => {
    const right = Buffer.from(JSON.stringify({ id: 'x', ...(madeValue(maker, schema) as object) }))
    const message = random.chance(0.2) ? mutated(random, right) : right
    return random.chance(0.3) ? inPieces(random, message) : frame(message)
  })
  return Buffer.concat(messages)
}

/** Frames that break a rule of RFC 6455 each, between frames that are right. */
export function fuzzedFrames(maker: Maker): Buffer {
  const { random } = maker
  const hello = Buffer.from('{"type":"ping","id":1}')
  const garbage = Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256)))
  const broken = [
    // A client masks, no extension was agreed on, and most opcodes mean nothing.
    frame(hello, { isMasked: false }),
    frame(hello, { reserved: 1 + random.below(7) }),
    frame(hello, { opcode: 3 + random.below(5) }),
    frame(hello, { opcode: 11 + random.below(5) }),
    // Control frames are short and whole.
    frame(Buffer.alloc(126 + random.below(200)), { opcode: 8 + random.below(3) }),
    frame(hello, { opcode: ping, isLast: false }),
    // A continuation has something to continue, and a message ends before the next begins.
    frame(hello, { opcode: continuation }),
    Buffer.concat([frame(hello, { isLast: false }), frame(hello)]),
    // Text is UTF-8, also over the border of two pieces, and so is the reason of a close.
    frame(Buffer.from(pickFrom(maker, badUtf8))),
    Buffer.concat([
      frame(Buffer.from([0xe2]), { isLast: false }),
      frame(Buffer.from([0x28]), { opcode: continuation }),
    ]),
    frame(Buffer.from([0x03, 0xe8, ...pickFrom(maker, badUtf8)]), { opcode: 8 }),
    // Codes that nobody may send.
    frame(closeCode(pickFrom(maker, [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535])), { opcode: 8 }),
    frame(Buffer.from([0x03]), { opcode: 8 }),
    // Lengths that do not fit, or not in this form.
    frame(garbage, { claimed: 2n ** BigInt(20 + random.below(44)) }),
    frame(garbage, { claimed: BigInt(garbage.length + 1 + random.below(1000)) }),
    Buffer.from([0x81, 0xfe, 0x00, 0x05, 1, 2, 3, 4]),
    Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4]),
    frame(garbage, { opcode: 2 }),
    frame(garbage),
    garbage,
  ]
  const parts = Array.from({ length: 1 + random.below(3) }, () => pickFrom(maker, broken))
  return Buffer.concat([...(random.chance(0.5) ? [frame(hello)] : []), ...parts])
}

/** A conversation that was right, until some of its bytes were changed. */
export function tornConversation(maker: Maker, host: string, token: string): Buffer {
  const whole = Buffer.concat([handshake(host, token), fuzzedMessages(maker), farewell])
  return mutated(maker.random, whole, 8)
}

function closeCode(code: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(code)
  return bytes
}

/** One message in several frames, with a ping between them now and then, which is allowed. */
function inPieces(random: SeededRandom, message: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < message.length; ) {
    const end = Math.min(message.length, at + 1 + random.below(20))
    const options = { opcode: at === 0 ? text : continuation, isLast: end === message.length }
    pieces.push(frame(message.subarray(at, end), options))
    if (random.chance(0.2)) pieces.push(frame(Buffer.from('x'), { opcode: ping }))
    at = end
  }
  return Buffer.concat(pieces)
}
