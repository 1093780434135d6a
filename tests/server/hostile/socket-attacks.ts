import type { Attack } from './attack.ts'
import { type Attacker, pickOf, request } from './http-attacks.ts'
import { nastyTexts, wrongNumbers } from './words.ts'

interface FrameOptions {
  readonly opcode?: number
  readonly isLast?: boolean
  readonly reserved?: number
  readonly isMasked?: boolean
  /** What the frame says of its length, if that is not true. */
  readonly claimed?: bigint
}

const text = 1
const binary = 2
const close = 8
const ping = 9

/** A frame of a client, right unless the options make it wrong. */
export function frame(payload: Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = text, isLast = true, reserved = 0, isMasked = true, claimed } = options
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode
  const mask = isMasked ? 0x80 : 0
  const key = isMasked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0)
  const body = isMasked ? payload.map((byte, index) => byte ^ (key[index % 4] ?? 0)) : payload
  return Buffer.concat([
    Buffer.from([first]),
    lengthOf(claimed ?? BigInt(payload.length), mask),
    key,
    Buffer.from(body),
  ])
}

function lengthOf(length: bigint, mask: number): Buffer {
  if (length < 126n) return Buffer.from([mask | Number(length)])
  const long = Buffer.alloc(length < 65_536n ? 3 : 9)
  long[0] = mask | (long.length === 3 ? 126 : 127)
  if (long.length === 3) long.writeUInt16BE(Number(length), 1)
  else long.writeBigUInt64BE(length, 1)
  return long
}

const handshake = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
] as const

function upgrade({ host, token }: Attacker): Buffer {
  const lines = handshake.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`GET /v1/ws HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n`)
}

// Answered after everything before it, unless the connection was closed for that.
const farewell = frame(Buffer.from('{"type":"ping","id":"the last"}'))
const isAnswered = (received: string) => received.includes('"the last"')

export function wrongHandshake(attacker: Attacker): Attack {
  const nasty = pickOf(attacker, nastyTexts)
  const without = pickOf(attacker, handshake)[0]
  const replaced = pickOf<readonly [string, string]>(attacker, [
    ['Sec-WebSocket-Version', '12'],
    ['Sec-WebSocket-Key', nasty],
    ['Sec-WebSocket-Protocol', nasty],
    ['Sec-WebSocket-Protocol', 'bearer.%%%, holdfast.v1'],
    ['Sec-WebSocket-Protocol', `holdfast.v1, bearer.${'x'.repeat(5000)}`],
    ['Sec-WebSocket-Extensions', 'permessage-deflate; server_max_window_bits=99'],
    ['Origin', 'http://evil.test'],
    ['X-Request-Id', nasty],
    ['Cookie', 'holdfast=x'],
  ])
  const headers = attacker.random.chance(0.3)
    ? handshake.filter(([name]) => name !== without)
    : [...handshake.filter(([name]) => name !== replaced[0]), replaced]
  const method = attacker.random.chance(0.9) ? 'GET' : 'POST'
  const path = attacker.random.chance(0.8) ? '/v1/ws' : '/v1/threads'
  return { what: 'handshake', bytes: request(attacker, method, path, headers) }
}

/** Frames that break the rules of WebSocket, or its limits. */
export function wrongFrames(attacker: Attacker): Attack {
  const { random } = attacker
  const garbage = Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256)))
  const hello = Buffer.from('{"type":"ping"}')
  const bytes = pickOf(attacker, [
    frame(hello, { isMasked: false }),
    frame(hello, { reserved: 1 + random.below(7) }),
    frame(hello, { opcode: 3 + random.below(5) }),
    frame(hello, { opcode: 11 + random.below(5) }),
    frame(hello, { opcode: 0 }),
    Buffer.concat([frame(hello, { isLast: false }), frame(hello)]),
    frame(Buffer.alloc(126), { opcode: ping }),
    frame(hello, { opcode: ping, isLast: false }),
    frame(Buffer.from([0]), { opcode: close }),
    frame(Buffer.from([0x03, 0xe7]), { opcode: close }),
    frame(Buffer.from([0x03, 0xec]), { opcode: close }),
    frame(Buffer.from([0x03, 0xe8, 0xff, 0xfe]), { opcode: close }),
    frame(Buffer.from([0xff, 0xfe, 0xfd])),
    frame(garbage),
    frame(garbage, { opcode: binary }),
    frame(hello, { opcode: binary }),
    frame(Buffer.alloc(10), { claimed: 100_000_000n }),
    frame(Buffer.alloc(10), { claimed: 2n ** 63n - 1n }),
    frame(Buffer.alloc(10), { claimed: 2n ** 64n - 1n }),
    frame(Buffer.alloc(300 * 1024, 'x')),
    Buffer.concat(Array.from({ length: 500 }, () => frame(hello, { opcode: ping }))),
  ])
  return { what: 'frames', bytes: Buffer.concat([upgrade(attacker), bytes, farewell]), isOver: isAnswered }
}

/** One message in parts without an end, 100 MB of it if nobody objects. */
export function endlessMessage(attacker: Attacker): Attack {
  const part = frame(Buffer.alloc(60 * 1024, 'x'), { opcode: 0, isLast: false })
  const bytes = Buffer.concat([upgrade(attacker), frame(Buffer.from('{'), { isLast: false })])
  return { what: 'endless message', bytes, flood: part, isOver: () => false }
}

/** Part of a frame, after which the client is gone. */
export function tornFrame(attacker: Attacker): Attack {
  const whole = frame(
    Buffer.from(JSON.stringify({ type: 'run', thread: 't', agent: 'echo', prompt: 'x'.repeat(1000) })),
  )
  const bytes = Buffer.concat([upgrade(attacker), whole.subarray(0, attacker.random.below(whole.length))])
  return { what: 'torn frame', bytes, isCutEarly: true }
}

/** Frames of the right form that ask for what is not there, or in a wrong way. */
export function wrongMessages(attacker: Attacker): Attack {
  const nasty = pickOf(attacker, nastyTexts)
  const number = pickOf<unknown>(attacker, [...wrongNumbers, -1, 1.5, 1e300, null, {}, []])
  const messages: readonly unknown[] = [
    null,
    [],
    'text',
    {},
    { type: nasty },
    { type: 'run' },
    { type: 'run', thread: nasty, agent: 'echo', prompt: nasty },
    { type: 'run', thread: 't', agent: nasty, prompt: nasty },
    { type: 'run', thread: 't', agent: 'echo', prompt: 'a', idempotencyKey: nasty },
    { type: 'run', thread: 't', agent: 'echo', prompt: 'a', metadata: { [nasty]: nasty }, description: nasty },
    { type: 'attach', thread: nasty },
    { type: 'attach', thread: 't', after: number },
    { type: 'attach', thread: 't', task: nasty },
    { type: 'attach', thread: 't', after: 0, types: [nasty] },
    { type: 'detach', thread: 't', task: nasty },
    { type: 'cancel', thread: 't', task: nasty },
    { type: 'cancel', task: 'bg_0' },
    { type: 'cancel', thread: 't', scope: nasty },
    { type: 'send', thread: 't', task: 'bg_0', content: nasty },
    { type: 'send', thread: 't', task: nasty },
    { type: 'answer', question: nasty, answer: nasty },
    { type: 'ping', extra: nasty },
    { type: 'ping', id: { a: 1 } },
    { type: 'ping', id: nasty },
    { type: 'ping', id: null },
    { type: 'ping', id: 'x'.repeat(100_000) },
  ]
  const raw = [
    '{',
    `${'['.repeat(50_000)}`,
    '{"type":"ping","type":"run"}',
    '{"type":"ping","__proto__":{"a":1}}',
    `{"type":"run","thread":"t","agent":"echo","input":${'['.repeat(100)}${']'.repeat(100)}}`,
  ]
  const sent = Array.from({ length: 1 + attacker.random.below(4) }, () =>
    attacker.random.chance(0.8)
      ? JSON.stringify({ id: 'x', ...wrapped(pickOf(attacker, messages)) })
      : pickOf(attacker, raw),
  )
  const frames = sent.map((message) => frame(Buffer.from(message)))
  return { what: 'messages', bytes: Buffer.concat([upgrade(attacker), ...frames, farewell]), isOver: isAnswered }
}

function wrapped(message: unknown): object {
  return typeof message === 'object' && message !== null ? message : { message }
}
