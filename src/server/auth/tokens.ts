import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { HoldfastError } from '../../core/errors.ts'
import { principal as checkedPrincipal } from '../../core/id.ts'

interface Holder {
  readonly principal: string
  readonly digest: Buffer
  readonly cookieKey: Buffer
}

// What a header carries without quoting. The length leaves room for the other headers of a request.
const tokenPattern = /^[!-~]{1,1024}$/

/**
 * The tokens of a server, of which it keeps what recognises them and nothing that could be sent in their place.
 *
 * T1 A token is known by its digest. Every digest is compared, each in constant time, whichever matches: the time an
 *    answer takes tells nothing about any token.
 * T2 The key of a principal's cookies comes from its token alone: it is the same after a restart and on every node,
 *    and another one once the token changes.
 */
export class Tokens {
  readonly #holders: readonly Holder[]
  // Stands in for the key of a principal that has no token, so that asking for one takes as long.
  readonly #nobodysKey = randomBytes(32)

  constructor(tokens: Readonly<Record<string, string>>) {
    this.#holders = Object.entries(tokens).map(([principal, token]) => holderOf(principal, token))
    const digests = new Set(this.#holders.map(({ digest }) => digest.toString('hex')))
    if (digests.size === this.#holders.length) return
    throw new HoldfastError('invalid_request', 'Two principals have the same token. Give each one of its own')
  }

  principalOf(token: string): string | undefined {
    const digest = digestOf(token)
    let found: string | undefined
    for (const holder of this.#holders) {
      if (timingSafeEqual(holder.digest, digest)) found = holder.principal
    }
    return found
  }

  has(principal: string): boolean {
    return this.#holders.some((holder) => holder.principal === principal)
  }

  /** The key of the principal's cookies; for one without a token a key that nothing was ever signed with. */
  cookieKey(principal: string): Buffer {
    return this.#holders.find((holder) => holder.principal === principal)?.cookieKey ?? this.#nobodysKey
  }
}

function holderOf(principal: string, token: string): Holder {
  checkedPrincipal(principal)
  if (typeof token !== 'string' || !tokenPattern.test(token)) {
    throw new HoldfastError(
      'invalid_request',
      `The token of ${principal} is not 1-1024 visible ASCII characters without a space. Choose another`,
    )
  }
  // Not keyed from the digest: who could read that could then make cookies.
  const cookieKey = createHmac('sha256', token).update('holdfast cookie 1').digest()
  return { principal, digest: digestOf(token), cookieKey }
}

export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
