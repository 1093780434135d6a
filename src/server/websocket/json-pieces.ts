// Short enough that a piece is small beside a frame even if every character is escaped, long enough to be worth a call.
const pieceLengthMax = 8 * 1024
// Of a number, the longest there is; `true`, `false` and `null` are shorter.
const scalarLength = 24
// As deep as a request may be. What an agent returns may be deeper than this could go down; from here on it is one piece.
export const depthMax = 64

/**
 * The JSON of a value in pieces, each made when it is asked for and none of them long: what is long is taken apart down to
 * its texts. Joined they are what `JSON.stringify` makes of it. The value is what JSON can say, with nothing that has a
 * `toJSON`; it must not change meanwhile.
 */
export function jsonPieces(value: unknown, lengthMax: number = pieceLengthMax): Generator<string, void> {
  return piecesAt(value, { lengthMax, depth: 0 })
}

interface Place {
  readonly lengthMax: number
  readonly depth: number
}

function* piecesAt(value: unknown, place: Place): Generator<string, void> {
  const isLong = place.depth < depthMax && isLongJson(value, place.lengthMax)
  const inside = { ...place, depth: place.depth + 1 }
  if (isLong && typeof value === 'string') yield* textPieces(value, place.lengthMax)
  else if (isLong && Array.isArray(value)) yield* listPieces(value, inside)
  else if (isLong && typeof value === 'object' && value !== null) yield* recordPieces(value, inside)
  else yield JSON.stringify(value) ?? 'null'
}

/** Whether the JSON of a value has more characters than these, not counting what is escaped. Looks no further than that. */
export function isLongJson(value: unknown, length: number): boolean {
  return lengthLeft(value, length) < 0
}

function lengthLeft(value: unknown, length: number, depth = 0): number {
  if (typeof value === 'string') return length - value.length - 2
  if (typeof value !== 'object' || value === null) return length - scalarLength
  if (depth >= depthMax) return length - JSON.stringify(value).length
  let left = length - 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = lengthLeft(value[index], left, depth + 1) - 1
    return left
  }
  for (const [key, member] of Object.entries(value)) {
    if (left < 0) break
    if (member !== undefined) left = lengthLeft(member, left, depth + 1) - key.length - 4
  }
  return left
}

function* textPieces(text: string, lengthMax: number): Generator<string, void> {
  yield '"'
  for (let start = 0; start < text.length; ) {
    const end = cutAt(text, start + lengthMax)
    yield JSON.stringify(text.slice(start, end)).slice(1, -1)
    start = end
  }
  yield '"'
}

/** The halves of a pair stay together: alone each would be escaped. */
function cutAt(text: string, end: number): number {
  const last = text.charCodeAt(end - 1)
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}

function* listPieces(list: readonly unknown[], place: Place): Generator<string, void> {
  let before = '['
  for (const item of list) {
    yield before
    yield* piecesAt(item, place)
    before = ','
  }
  yield list.length === 0 ? '[]' : ']'
}

function* recordPieces(record: object, place: Place): Generator<string, void> {
  let before = '{'
  for (const key of Object.keys(record)) {
    const member: unknown = record[key as keyof typeof record]
    if (member === undefined) continue
    yield before
    yield* piecesAt(key, place)
    yield ':'
    yield* piecesAt(member, place)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
