import { HoldfastError } from '../../core/errors.ts'
import { principal as checkedPrincipal } from '../../core/id.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { HandlerOptions } from '../options.ts'
import { claimsIn, isTrue, loginCookie, logoutCookie } from './cookie.ts'
import { LoginCodes } from './login-codes.ts'
import { Tokens } from './tokens.ts'

export interface AuthenticationOptions extends Pick<HandlerOptions, 'tokens' | 'authenticate' | 'basePath'> {
  readonly clock: Clock
}

export interface Login {
  readonly principal: string
  /** The value of `Set-Cookie`. */
  readonly cookie: string
}

const subprotocolPrefix = 'bearer.'

/**
 * Says who is asking.
 *
 * A1 What is malformed, forged, over or unknown is no principal, never an error: the answer does not say which it was.
 * A2 A credential that was put into the request on purpose counts alone. With a wrong token in `Authorization`, a good
 *    cookie does not help: the asker means to be somebody else.
 * A3 Where the program around us knows who is asking, it is asked about every request that no token speaks for.
 */
export class Authentication {
  readonly #tokens: Tokens
  readonly #codes: LoginCodes
  readonly #authenticate: AuthenticationOptions['authenticate']
  readonly #clock: Clock
  readonly #basePath: string

  constructor({ tokens = {}, authenticate, clock, basePath = '' }: AuthenticationOptions) {
    this.#tokens = new Tokens(tokens)
    this.#codes = new LoginCodes(clock)
    this.#authenticate = authenticate
    this.#clock = clock
    this.#basePath = basePath
  }

  /** The principal that the headers speak for; `request` is what `authenticate` is shown, if there is one. */
  async principalOf(headers: Headers, request?: Request): Promise<string | undefined> {
    const principal = this.#principalByToken(headers)
    if (principal !== undefined || !this.#authenticate || !request) return principal
    return checkedAnswer(await this.#authenticate(request))
  }

  /** Logs a browser in by a token, or once by a code. */
  login(
    credential: { readonly token: string } | { readonly code: string },
    { isSecure }: { readonly isSecure: boolean },
  ): Login | undefined {
    const principal =
      'token' in credential ? this.#tokens.principalOf(credential.token) : this.#codes.take(credential.code)
    if (principal === undefined) return undefined
    const place = { basePath: this.#basePath, isSecure }
    return { principal, cookie: loginCookie(principal, this.#tokens.cookieKey(principal), this.#clock.now(), place) }
  }

  /** The value of `Set-Cookie` that makes a browser forget who it was. */
  logoutCookie({ isSecure }: { readonly isSecure: boolean }): string {
    return logoutCookie({ basePath: this.#basePath, isSecure })
  }

  /** A code for a login link: one use, 10 minutes, on this node. */
  newLoginCode(principal: string): string {
    if (this.#tokens.has(principal)) return this.#codes.make(principal)
    throw new HoldfastError(
      'invalid_request',
      `${principal} has no token, so nothing can log a browser in. Give it one`,
    )
  }

  #principalByToken(headers: Headers): string | undefined {
    const authorization = headers.get('authorization')
    if (authorization !== null) return this.#principalByBearer(authorization)
    const subprotocols = headers
      .get('sec-websocket-protocol')
      ?.split(',')
      .map((each) => each.trim())
    const bearer = subprotocols?.find((each) => each.startsWith(subprotocolPrefix))
    if (bearer !== undefined) return this.#principalBySubprotocol(bearer)
    return this.#principalByCookie(headers.get('cookie') ?? '')
  }

  #principalByBearer(authorization: string): string | undefined {
    const token = /^Bearer +([!-~]+) *$/i.exec(authorization)?.[1]
    return token === undefined ? undefined : this.#tokens.principalOf(token)
  }

  #principalBySubprotocol(subprotocol: string): string | undefined {
    const encoded = /^[A-Za-z0-9_-]+$/.exec(subprotocol.slice(subprotocolPrefix.length))?.[0]
    return encoded === undefined ? undefined : this.#tokens.principalOf(Buffer.from(encoded, 'base64url').toString())
  }

  #principalByCookie(header: string): string | undefined {
    const now = this.#clock.now()
    return claimsIn(header).find((claim) => isTrue(claim, this.#tokens.cookieKey(claim.principal), now))?.principal
  }
}

/** What is wrong with an answer is wrong with the program that gave it, so nobody is let in and the asker is not blamed. */
function checkedAnswer(answer: string | undefined): string | undefined {
  if (answer === undefined || answer === null || answer === '') return undefined
  try {
    return checkedPrincipal(answer)
  } catch (error) {
    throw new Error('authenticate answered with what is no principal', { cause: error })
  }
}
