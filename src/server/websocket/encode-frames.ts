import type { FrameId, ServerFrame } from '../../protocol/frames.ts'
import type { LogEntry } from '../../runtime/log-entry.ts'
import { madeOnce } from '../made-once.ts'
import { isLongJson, jsonPieces } from './json-pieces.ts'
import type { OutgoingMessage } from './outbox.ts'

// A message that is longer is sent in frames, so that it need not wait whole, and whoever takes it slowly is seen to take it.
const wholeBytesMax = 256 * 1024
const frameBytesMax = 64 * 1024
// One group is one piece of what waits for a connection; a batch of the log is about as large, so mostly one group.
const groupBytesMax = 256 * 1024

const opcodeText = 1
const opcodeContinuation = 0
const isLast = 0x80
const brace = 0x7d

/** A frame of the protocol as a server sends it: not masked, and in more than one frame of a WebSocket only if it is long. */
export function serverMessage(frame: ServerFrame): OutgoingMessage {
  const text = isLongJson(frame, wholeBytesMax) ? undefined : JSON.stringify(frame)
  if (text !== undefined && Buffer.byteLength(text) <= wholeBytesMax) return textFrame(opcodeText | isLast, text)
  return longMessage(jsonPieces(frame))
}

/** The frames of one message. No piece is longer than a frame may be. */
function* longMessage(pieces: Iterable<string>): Generator<Buffer, void> {
  let opcode = opcodeText
  let text = ''
  let bytes = 0
  for (const piece of pieces) {
    const pieceBytes = Buffer.byteLength(piece)
    if (bytes + pieceBytes > frameBytesMax) {
      yield textFrame(opcode, text)
      opcode = opcodeContinuation
      text = ''
      bytes = 0
    }
    text += piece
    bytes += pieceBytes
  }
  yield textFrame(opcode | isLast, text)
}

function textFrame(first: number, text: string): Buffer {
  const length = Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(headerBytes(length) + length)
  frame.write(text, writeHeader(frame, 0, first, length))
  return frame
}

interface Encoded {
  readonly id: FrameId | undefined
  readonly groups: readonly Buffer[]
}

// Clients that count their frames alike attach under the same id; for those the frames are made once. One id per batch: what
// many ids would need is not bounded.
const encodedOf = madeOnce((): { encoded?: Encoded } => ({}))

/** The `event` frames of a batch, joined into groups of a bounded size. The text of an event is sent as it is. */
export function eventFrames(entries: readonly LogEntry[], id: FrameId | undefined): readonly Buffer[] {
  const known = encodedOf(entries)
  if (known.encoded && known.encoded.id === id) return known.encoded.groups
  const groups = encodeEvents(entries, id)
  known.encoded ??= { id, groups }
  return groups
}

function encodeEvents(entries: readonly LogEntry[], id: FrameId | undefined): Buffer[] {
  const prefix = Buffer.from(`{"type":"event"${id === undefined ? '' : `,"id":${JSON.stringify(id)}`},"event":`)
  const groups: Buffer[] = []
  let lengths: number[] = []
  let first = 0
  let bytes = 0
  for (const [index, { text }] of entries.entries()) {
    const length = prefix.length + Buffer.byteLength(text) + 1
    const frameBytes = headerBytes(length) + length
    if (lengths.length > 0 && bytes + frameBytes > groupBytesMax) {
      groups.push(joined(entries, first, prefix, lengths, bytes))
      first = index
      lengths = []
      bytes = 0
    }
    lengths.push(length)
    bytes += frameBytes
  }
  if (lengths.length > 0) groups.push(joined(entries, first, prefix, lengths, bytes))
  return groups
}

function joined(
  entries: readonly LogEntry[],
  first: number,
  prefix: Buffer,
  lengths: readonly number[],
  bytes: number,
): Buffer {
  const group = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const [index, length] of lengths.entries()) {
    at = writeHeader(group, at, opcodeText | isLast, length)
    at += prefix.copy(group, at)
    at += group.write(entries[first + index]?.text ?? '', at)
    group[at] = brace
    at += 1
  }
  return group
}

function headerBytes(length: number): number {
  if (length < 126) return 2
  return length < 65_536 ? 4 : 10
}

/** Returns where the payload begins. */
function writeHeader(target: Buffer, at: number, first: number, length: number): number {
  target[at] = first
  if (length < 126) return target.writeUInt8(length, at + 1)
  if (length < 65_536) {
    target[at + 1] = 126
    return target.writeUInt16BE(length, at + 2)
  }
  target[at + 1] = 127
  return target.writeBigUInt64BE(BigInt(length), at + 2)
}
