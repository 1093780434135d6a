import { nearestHint } from '../nearest.ts'
import { from, wrong } from '../wrong.ts'

/** Reads one setting from a text, as flags and the environment have it, or from the value in a config file. */
export interface Reader<Value> {
  /** Both throw a HoldfastError that says what is wrong with the value, and never the value of a secret. */
  fromText(text: string): Value
  fromConfig(value: unknown): Value
}

/** A whole number within the range. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const takes = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
  const fromConfig = (value: unknown): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value
    throw wrong(`${shown(value)} is not a whole number ${takes}`)
  }
  return { fromConfig, fromText: (text) => fromConfig(/^[0-9]+$/.test(text) ? Number(text) : text) }
}

/** One of a few words. */
export function word<Word extends string>(...words: readonly Word[]): Reader<Word> {
  const fromConfig = (value: unknown): Word => {
    const found = words.find((each) => each === value)
    if (found !== undefined) return found
    throw wrong(`${shown(value)} is not one of ${words.join(', ')}`)
  }
  return { fromConfig, fromText: fromConfig }
}

/** Words in the environment that stand for values of their own in a config file. */
export function choice<Value>(values: Readonly<Record<string, Value>>): Reader<Value> {
  const takes = (words: readonly unknown[]): string => words.map(String).join(', ')
  return {
    fromText(text) {
      const value = Object.hasOwn(values, text) ? values[text] : undefined
      if (value !== undefined) return value
      throw wrong(`${shown(text)} is not one of ${takes(Object.keys(values))}`)
    },
    fromConfig(value) {
      const found = Object.values(values).find((each) => each === value)
      if (found !== undefined) return found
      throw wrong(`${shown(value)} is not one of ${takes(Object.values(values))}`)
    },
  }
}

const count = wholeNumber(1)

/** Whole numbers by name, each from 1 on. */
export function counts(noun: string, names: readonly string[]): Reader<Record<string, number>> {
  const read = <Value>(
    given: Readonly<Record<string, Value>>,
    one: (value: Value) => number,
  ): Record<string, number> => {
    const entries = Object.entries(given).map(([name, value]) => {
      if (!names.includes(name))
        throw wrong(`There is no ${noun} ${name}${nearestHint(name, names, `. There are: ${names.join(', ')}`)}`)
      return [name, from(name, () => one(value))]
    })
    return Object.fromEntries(entries)
  }
  const twice = (name: string): string => `${name} is given twice. Give each ${noun} one value`
  return {
    fromText: (text) => read(pairsOf(text, 'NAME=NUMBER', twice), count.fromText),
    fromConfig: (value) => read(recordOf(value), count.fromConfig),
  }
}

/** Texts, which are checked together. */
export function list(check: (values: readonly string[]) => unknown): Reader<readonly string[]> {
  const checked = (values: readonly string[]): readonly string[] => {
    check(values)
    return values
  }
  return {
    fromText: (text) => checked(text.split(',').map((each) => each.trim())),
    fromConfig(value) {
      if (Array.isArray(value)) return checked(value.map(textOf))
      throw wrong(`${shown(value)} is not a list of texts`)
    },
  }
}

/** What only a config file can have. */
export function ofConfigOnly<Value>(name: string, fromConfig: (value: unknown) => Value): Reader<Value> {
  return {
    fromText: () => {
      throw wrong(`${name} comes from a config file`)
    },
    fromConfig,
  }
}

/** What `NAME=VALUE` pairs with commas between say. `twice` is what is said of a name that stands there twice. */
export function pairsOf(text: string, form: string, twice: (name: string) => string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pairOf(pair, form))
  const names = pairs.map(([name]) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw wrong(twice(repeated))
  return Object.fromEntries(pairs)
}

/** The two sides of the first `=`: a token may hold further ones. One that stands alone may end in it, and is not repeated. */
function pairOf(text: string, form: string): [string, string] {
  const [, left, right] = /^([^=]+)=(.+)$/.exec(text.trim()) ?? []
  if (left !== undefined && right !== undefined) return [left.trim(), right.trim()]
  throw wrong(`Not every part between the commas is ${form}`)
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw wrong(`${shown(value)} is not an object`)
}

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw wrong(`${shown(value)} is not a text`)
}

export function shown(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function'
    ? `The ${typeof value}`
    : (JSON.stringify(value) ?? 'Nothing')
}
