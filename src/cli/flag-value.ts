import { InvalidArgumentError } from 'commander'

/** Reads a whole number within the range. */
export function wholeNumberFlag(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const takes = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
  return (text) => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It is not a whole number ${takes}.`)
  }
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a time such as `500ms`, `5s`, `2m`, `1h` or `7d`, in milliseconds; a bare number means seconds. */
export function durationFlag(text: string): number {
  const [, digits, unit = 's'] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  const ms = Math.round(Number(digits) * (unitMs[unit] ?? Number.NaN))
  if (Number.isSafeInteger(ms) && ms > 0) return ms
  if (ms === 0) throw new InvalidArgumentError('It is less than 1ms, and 0 is not allowed.')
  throw new InvalidArgumentError('It is no time such as 500ms, 5s, 2m, 1h or 7d.')
}

// The longest that a timer takes; a longer one would fire at once.
const timerMsMax = 2 ** 31 - 1

/** Reads a time that somebody is to wait for. */
export function timeLimitFlag(text: string): number {
  const ms = durationFlag(text)
  if (ms <= timerMsMax) return ms
  throw new InvalidArgumentError('It is longer than 24d.')
}

/** Reads a comma list whose parts are all of a few words; given twice, the parts add up. */
export function wordsFlag<Word extends string>(words: readonly Word[]): (text: string, before?: Word[]) => Word[] {
  return (text, before = []) => {
    const found = text.split(',').map((part) => {
      const word = words.find((each) => each === part.trim())
      if (word !== undefined) return word
      throw new InvalidArgumentError(`${JSON.stringify(part)} is not one of ${words.join(', ')}.`)
    })
    return [...before, ...found]
  }
}

/** Reads a comma list of types of events; given twice, the parts add up. A server may have types this program does not know. */
export function typesFlag(text: string, before: readonly string[] = []): readonly string[] {
  const types = text.split(',').map((part) => part.trim())
  if (types.every((type) => /^[a-z_.]+$/.test(type))) return [...before, ...types]
  throw new InvalidArgumentError('It is no list of types such as text.delta,tool.call.')
}
