interface FrameOptions {
  readonly opcode?: number
  readonly isLast?: boolean
  readonly reserved?: number
  readonly isMasked?: boolean
  /** What the frame says of its length, if that is not true. */
  readonly claimed?: bigint
}

/** A WebSocket frame of a client, right unless the options make it wrong. */
export function frame(payload: Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, isLast = true, reserved = 0, isMasked = true, claimed } = options
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode
  const key = isMasked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0)
  const body = isMasked ? payload.map((byte, index) => byte ^ (key[index % 4] ?? 0)) : payload
  const length = lengthOf(claimed ?? BigInt(payload.length), isMasked ? 0x80 : 0)
  return Buffer.concat([Buffer.from([first]), length, key, Buffer.from(body)])
}

export function textFrame(value: unknown): Buffer {
  return frame(Buffer.from(JSON.stringify(value)))
}

function lengthOf(length: bigint, mask: number): Buffer {
  if (length < 126n) return Buffer.from([mask | Number(length)])
  const long = Buffer.alloc(length < 65_536n ? 3 : 9)
  long[0] = mask | (long.length === 3 ? 126 : 127)
  if (long.length === 3) long.writeUInt16BE(Number(length), 1)
  else long.writeBigUInt64BE(length, 1)
  return long
}

export const handshake = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
] as const

/** The request that makes a WebSocket of a connection. */
export function upgrade(host: string, token: string): Buffer {
  const lines = handshake.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`GET /v1/ws HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n`)
}
