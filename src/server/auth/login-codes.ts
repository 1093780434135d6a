import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { digestOf } from './tokens.ts'

/** Long enough to open a link, short enough that one found later in a terminal's history is worth nothing. */
export const codeMsMax = 10 * 60 * 1000

// Far more than anybody opens at once. Past it the oldest is forgotten, so that they never fill the memory.
const codesMax = 1000

interface Grant {
  readonly principal: string
  readonly expiresAt: number
}

/** Codes that log a browser in once. They live in this process only; like tokens, they are kept as digests. */
export class LoginCodes {
  readonly #clock: Clock
  readonly #grants = new Map<string, Grant>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  make(principal: string): string {
    const code = randomBytes(24).toString('base64url')
    this.#makeRoom()
    this.#grants.set(keyOf(code), { principal, expiresAt: this.#clock.now() + codeMsMax })
    return code
  }

  /** The principal it was made for, once; afterwards, and after its time, undefined. */
  take(code: string): string | undefined {
    const key = keyOf(code)
    const grant = this.#grants.get(key)
    this.#grants.delete(key)
    return grant && this.#clock.now() < grant.expiresAt ? grant.principal : undefined
  }

  #makeRoom(): void {
    const now = this.#clock.now()
    for (const [key, grant] of this.#grants) {
      if (now >= grant.expiresAt || this.#grants.size >= codesMax) this.#grants.delete(key)
    }
  }
}

/** Looked up by digest, the time it takes tells nothing about a code. */
function keyOf(code: string): string {
  return digestOf(code).toString('base64url')
}
