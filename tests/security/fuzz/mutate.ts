import type { SeededRandom } from '../../../src/chaos/seeded-random.ts'

/** Bytes that begin or end something in what we read. */
const telling = [0x00, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x2c, 0x2f, 0x3a, 0x5c, 0x7b, 0x7d, 0x7f, 0x80, 0x81, 0x88, 0xff]

/** The same bytes but for a few places: changed, left out, doubled, or cut off there. */
export function mutated(random: SeededRandom, bytes: Buffer, placesMax = 4): Buffer {
  let result = bytes
  for (let left = 1 + random.below(placesMax); left > 0; left -= 1) result = mutatedOnce(random, result)
  return result
}

function mutatedOnce(random: SeededRandom, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + 1 + random.below(8))
  const before = bytes.subarray(0, at)
  const byte = Buffer.from([random.chance(0.6) ? (random.pick(telling) ?? 0) : random.below(256)])
  switch (random.weighted({ flip: 4, insert: 3, remove: 2, double: 2, cut: 1, splice: 1 })) {
    case 'flip':
      return Buffer.concat([before, byte, bytes.subarray(Math.min(bytes.length, at + 1))])
    case 'insert':
      return Buffer.concat([before, byte, bytes.subarray(at)])
    case 'remove':
      return Buffer.concat([before, bytes.subarray(end)])
    case 'double':
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
    case 'cut':
      return before
    case 'splice':
      return Buffer.concat([before, bytes.subarray(random.below(bytes.length + 1))])
  }
}
