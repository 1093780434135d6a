import { wrongNumbers } from '../../../src/chaos/hostile/words.ts'
import type { SeededRandom } from '../../../src/chaos/seeded-random.ts'

/** What a reader says of where it was; each text as often as it is sent. */
export interface Start {
  readonly after: readonly string[]
  readonly lastEventId: readonly string[]
}

export interface Log {
  readonly head: number
  /** The first number that is kept. */
  readonly first: number
}

/** What has to be answered: the code of a refusal, or the number after which the log goes on. */
export type Expected = { readonly code: string; readonly status: number } | { readonly from: number }

const { MAX_SAFE_INTEGER: most } = Number

/** Any start there is, many of them around the ends of the log. */
export function someStart(random: SeededRandom, { head, first }: Log): Start {
  const number = (): string => {
    const near = [0, 1, first - 2, first - 1, first, head - 1, head, head + 1, head + 1000, most, most - 1]
    if (random.chance(0.2)) return String(random.below(head + 5))
    if (random.chance(0.55)) return String(Math.max(0, random.pick(near) ?? 0))
    if (random.chance(0.2)) return `${'0'.repeat(random.below(5))}${random.below(head + 5)}`
    return (
      random.pick([...wrongNumbers, '-0', '1_000', '0b1', '1e2', '1.0', '1 2', '%31', "1'", '9007199254740993']) ?? ''
    )
  }
  const many = (share: number): string[] =>
    random.chance(share) ? Array.from({ length: random.chance(0.07) ? 2 : 1 }, number) : []
  // A header has no line break in it; spaces around its value are not part of it.
  const inHeader = many(0.4).map((text) => text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/^ +| +$/g, ''))
  return { after: many(0.7), lastEventId: inHeader }
}

/** PROTOCOL §5, once more and by other means: digits only, at most 2^53-1, the header before the query, nothing clamped. */
export function expectedOf({ after, lastEventId }: Start, { head, first }: Log): Expected {
  const texts = [...after, ...lastEventId]
  const isDoubled = after.length > 1 || lastEventId.length > 1
  if (isDoubled || texts.some((text) => !isOffset(text))) return { code: 'invalid_request', status: 400 }
  const start = Number(lastEventId[0] ?? after[0] ?? 0)
  if (start > head) return { code: 'offset_ahead', status: 409 }
  if (start < first - 1) return { code: 'offset_gone', status: 410 }
  return { from: start }
}

function isOffset(text: string): boolean {
  return text !== '' && [...text].every((digit) => '0123456789'.includes(digit)) && BigInt(text) <= BigInt(most)
}
