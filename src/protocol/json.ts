import { HoldfastError } from '../core/errors.ts'

const quote = 0x22
const backslash = 0x5c

/**
 * Parses JSON that somebody else wrote. Refuses what two readers could understand differently or what JavaScript would
 * change in silence: repeated keys, keys named `__proto__`, numbers beyond what a number holds. Depth is checked before
 * anything is built.
 */
export function parseJson(text: string, depthMax: number): unknown {
  new Scan(text, depthMax).check()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed(cause)
  }
}

/** An object or list that is open at some place of the text. */
interface Frame {
  readonly isObject: boolean
  keys: Set<string> | undefined
}

/**
 * One pass over the text that knows just enough of JSON to tell keys from values. It may pass what is not JSON;
 * `JSON.parse` does not.
 */
class Scan {
  readonly #text: string
  readonly #depthMax: number
  readonly #frames: Frame[] = []
  #expectsKey = false

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  check(): void {
    const text = this.#text
    for (let at = 0; at < text.length; at += 1) {
      switch (text.charCodeAt(at)) {
        case quote:
          at = this.#string(at)
          break
        case 0x7b: // {
          this.#open(true)
          break
        case 0x5b: // [
          this.#open(false)
          break
        case 0x7d: // }
        case 0x5d: // ]
          this.#frames.pop()
          this.#expectsKey = false
          break
        case 0x2c: // ,
          this.#expectsKey = this.#frames.at(-1)?.isObject ?? false
          break
        default:
          if (isDigit(text.charCodeAt(at))) at = this.#number(at)
      }
    }
  }

  #open(isObject: boolean): void {
    if (this.#frames.length >= this.#depthMax) {
      throw new HoldfastError('invalid_request', `The JSON is nested deeper than ${this.#depthMax} (jsonDepth)`)
    }
    this.#frames.push({ isObject, keys: undefined })
    this.#expectsKey = isObject
  }

  /** Answers with the place of the closing quote. */
  #string(start: number): number {
    const end = this.#endOfString(start)
    if (this.#expectsKey) this.#key(this.#text.slice(start, end + 1))
    this.#expectsKey = false
    return end
  }

  #endOfString(start: number): number {
    for (let end = this.#text.indexOf('"', start + 1); end !== -1; end = this.#text.indexOf('"', end + 1)) {
      let slashes = 0
      while (this.#text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1
      if (slashes % 2 === 0) return end
    }
    throw malformed()
  }

  #key(literal: string): void {
    const key = literal.includes('\\') ? decoded(literal) : literal.slice(1, -1)
    if (key === '__proto__') throw new HoldfastError('invalid_request', 'The JSON has a key named __proto__')
    const frame = this.#frames.at(-1)
    if (!frame) return
    frame.keys ??= new Set()
    if (frame.keys.has(key)) throw repeated(key)
    frame.keys.add(key)
  }

  /** Answers with the place of the last character that may belong to the number. */
  #number(start: number): number {
    let end = start + 1
    while (end < this.#text.length && isNumeric(this.#text.charCodeAt(end))) end += 1
    // What JSON.parse would make infinite cannot be written back as JSON.
    if (Number(this.#text.slice(start, end)) === Number.POSITIVE_INFINITY) {
      throw new HoldfastError('invalid_request', 'The JSON has a number that is too large to be kept')
    }
    return end - 1
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Digits, point, exponent and the sign within it. */
function isNumeric(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
}

function decoded(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch (cause) {
    throw malformed(cause)
  }
}

// Enough to recognise a key by; the caller has the rest.
const keyLengthMax = 100

function repeated(key: string): HoldfastError {
  return new HoldfastError(
    'invalid_request',
    `The JSON has the key ${JSON.stringify(key.slice(0, keyLengthMax))} twice`,
  )
}

function malformed(cause?: unknown): HoldfastError {
  return new HoldfastError('invalid_request', 'The body is not valid JSON', { cause })
}
