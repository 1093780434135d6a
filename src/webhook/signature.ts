import { createHmac, timingSafeEqual } from 'node:crypto'
import { HoldfastError } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'

/** What says who sent a webhook and when, by the names of Standard Webhooks. */
export interface WebhookHeaders {
  readonly 'webhook-id': string
  /** Seconds since the epoch. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** `whsec_` and base64, as Standard Webhooks writes keys; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
}

// What can be tried out in a lifetime is no secret.
const keyBytesMin = 16

export function checkSecret(secret: string): void {
  if (typeof secret === 'string' && keyOf(secret).length >= keyBytesMin) return
  const message = `The secret of a webhook has at least ${keyBytesMin} bytes; openssl rand -base64 32 makes a good one`
  throw new HoldfastError('invalid_request', message)
}

/** The headers of a body that is sent now. The id and the instant are signed with it, so that neither can be changed. */
export function signedHeaders(secret: string, id: string, body: string, now: number): WebhookHeaders {
  const timestamp = String(Math.floor(now / 1000))
  const signature = `v1,${sign(secret, id, timestamp, body).toString('base64')}`
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

// Long enough for clocks that differ a little, short enough that a body that somebody caught is soon worth nothing.
const toleranceMsDefault = 5 * 60 * 1000

/** What a webhook must be signed with, and how old it may be. */
export interface VerifyOptions {
  readonly secret: string
  /** How far the clocks of sender and receiver may be apart. Five minutes unless given. */
  readonly toleranceMs?: number
  /** The instant to compare with; now unless given. */
  readonly now?: number
}

/**
 * Whether a request is a webhook signed with the secret, and sent a moment ago. The body is the text as it was received: what
 * was parsed and encoded again is another text. Every signature is compared in constant time.
 */
export function verifyWebhook(
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string,
  options: VerifyOptions,
): boolean {
  checkSecret(options.secret)
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  })
  if (!id || !signatures || !timestamp || !/^[0-9]{1,12}$/.test(timestamp)) return false
  const { toleranceMs = toleranceMsDefault, now = systemClock.now() } = options
  if (Math.abs(now - Number(timestamp) * 1000) > toleranceMs) return false
  const expected = sign(options.secret, id, timestamp, body)
  // Several while a secret is being replaced.
  return signatures.split(' ').some((each) => each.startsWith('v1,') && isEqual(expected, each.slice(3)))
}

function sign(secret: string, id: string, timestamp: string, body: string): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest()
}

function isEqual(expected: Buffer, encoded: string): boolean {
  const given = Buffer.from(encoded, 'base64')
  return given.length === expected.length && timingSafeEqual(expected, given)
}
