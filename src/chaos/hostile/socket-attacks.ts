import { type Attack, type Attacker, leaving, pickOf, request } from './attack.ts'
import { frame, handshake, textFrame, upgrade } from './frame.ts'
import { nastyTexts, wrongNumbers } from './words.ts'

const continuation = 0
const binary = 2
const close = 8
const ping = 9

// Answered after everything before it, unless the connection was closed for that.
const farewell = textFrame({ type: 'ping', id: 'the last' })
const isOver = (received: string) => received.includes('"the last"')

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
  const path = attacker.random.chance(0.8) ? '/v1/ws' : '/v1/threads'
  return { what: 'handshake', bytes: request(attacker, attacker.random.chance(0.9) ? 'GET' : 'POST', path, headers) }
}

const hello = Buffer.from('{"type":"ping"}')
const tooLong = frame(Buffer.alloc(300 * 1024, 'x'))
const manyPings = Buffer.concat(Array.from({ length: 500 }, () => frame(hello, { opcode: ping })))

/** Frames that break the rules of WebSocket, or its limits. */
export function wrongFrames(attacker: Attacker): Attack {
  const { random, host, token } = attacker
  const noise = Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256)))
  const bytes = pickOf(attacker, [
    frame(hello, { isMasked: false }),
    frame(hello, { reserved: 1 + random.below(7) }),
    frame(hello, { opcode: 3 + random.below(5) }),
    frame(hello, { opcode: 11 + random.below(5) }),
    frame(hello, { opcode: continuation }),
    Buffer.concat([frame(hello, { isLast: false }), frame(hello)]),
    frame(Buffer.alloc(126), { opcode: ping }),
    frame(hello, { opcode: ping, isLast: false }),
    frame(Buffer.from([0]), { opcode: close }),
    frame(Buffer.from([0x03, 0xe7]), { opcode: close }),
    frame(Buffer.from([0x03, 0xec]), { opcode: close }),
    frame(Buffer.from([0x03, 0xe8, 0xff, 0xfe]), { opcode: close }),
    frame(Buffer.from([0xff, 0xfe, 0xfd])),
    frame(noise),
    frame(noise, { opcode: binary }),
    frame(hello, { opcode: binary }),
    frame(Buffer.alloc(10), { claimed: 100_000_000n }),
    frame(Buffer.alloc(10), { claimed: 2n ** 63n - 1n }),
    frame(Buffer.alloc(10), { claimed: 2n ** 64n - 1n }),
    tooLong,
    manyPings,
  ])
  return { what: 'frames', bytes: Buffer.concat([upgrade(host, token), bytes, farewell]), isOver }
}

const partWithoutEnd = frame(Buffer.alloc(60 * 1024, 'x'), { opcode: continuation, isLast: false })

/** One message in parts without an end, 100 MB of it if nobody objects. Only that the other side closes ends it. */
export function endlessMessage({ host, token }: Attacker): Attack {
  const bytes = Buffer.concat([upgrade(host, token), frame(Buffer.from('{'), { isLast: false })])
  return { what: 'endless message', bytes, flood: partWithoutEnd, isOver: () => false }
}

/** Part of a frame, or of a message in parts, after which the client is gone. */
export function tornFrame(attacker: Attacker): Attack {
  const { random, host, token } = attacker
  const whole = textFrame({ type: 'run', thread: 't', agent: 'echo', prompt: 'x'.repeat(1000) })
  const torn = whole.subarray(0, random.below(whole.length))
  return { what: 'torn frame', bytes: Buffer.concat([upgrade(host, token), torn]), leaves: leaving(attacker) }
}

/** Frames of the right form that ask for what is not there, or in a wrong way. */
export function wrongMessages(attacker: Attacker): Attack {
  const { random, host, token } = attacker
  const nasty = pickOf(attacker, nastyTexts)
  const number = pickOf<unknown>(attacker, [...wrongNumbers, -1, 1.5, 1e300, null, {}, []])
  const messages: readonly object[] = [
    {},
    { message: 'text' },
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
    { type: 'watch', types: [nasty] },
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
    '['.repeat(50_000),
    'null',
    '[]',
    '"text"',
    '{"type":"ping","type":"run"}',
    '{"type":"ping","__proto__":{"a":1}}',
    `{"type":"run","thread":"t","agent":"echo","input":${'['.repeat(100)}${']'.repeat(100)}}`,
  ]
  const sent = Array.from({ length: 1 + random.below(4) }, () =>
    random.chance(0.8)
      ? textFrame({ id: 'x', ...pickOf(attacker, messages) })
      : frame(Buffer.from(pickOf(attacker, raw))),
  )
  return { what: 'messages', bytes: Buffer.concat([upgrade(host, token), ...sent, farewell]), isOver }
}
