import { HoldfastError } from '../core/errors.ts'
import { type HostAndPort, isLoopback, parseHost } from './host.ts'
import type { HandlerOptions } from './options.ts'

export type OriginGuardOptions = Pick<HandlerOptions, 'hosts' | 'origins' | 'trustProxy'>

interface Origin {
  readonly scheme: string
  readonly host: HostAndPort
}

const defaultPorts: Readonly<Record<string, number>> = { http: 80, https: 443 }
const methods = 'GET, POST, DELETE'
const requestHeaders = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
  'traceparent',
  'tracestate',
].join(', ')
const exposedHeaders = 'X-Request-Id, X-Holdfast-Node, Location, Idempotency-Replayed, Retry-After'
// As long as a change of the configured origins may go unnoticed.
const preflightSeconds = 600

/**
 * Keeps pages of other sites out, even those that reach a server on loopback.
 *
 * O1 `Host` names loopback or a configured host. A page whose own name was made to resolve to this machine sends that
 *    name, and is refused.
 * O2 `Origin` is absent, the origin that the request was sent to, or a configured one. An opaque one (`null`) is
 *    anybody's, and is refused.
 * O3 What a proxy forwards counts only if it is trusted, and never instead of `Host`: both have to be right, since a page
 *    that got past the proxy can send any header it likes.
 */
export class OriginGuard {
  readonly #hosts: readonly HostAndPort[]
  readonly #origins: ReadonlySet<string>
  readonly #trustsProxy: boolean
  /** What was answered to last, by its `Host` as it came: nearly all requests name one. */
  #lastHost: { readonly text: string; readonly scheme: string; readonly host: HostAndPort } | undefined

  constructor({ hosts = [], origins = [], trustProxy = false }: OriginGuardOptions = {}) {
    this.#hosts = hosts.map(configuredHost)
    this.#origins = new Set(origins.map(configuredOrigin))
    this.#trustsProxy = trustProxy
  }

  /**
   * Throws `forbidden_origin` unless both Host and Origin are right. A request that never was on a wire may have no Host;
   * its URL then says what was asked for.
   */
  check(headers: Headers, isTls: boolean, url?: string): void {
    const host = this.#checkedHost(headers, isTls, url)
    this.#checkOrigin(headers, host, isTls)
  }

  /** Whether the browser came by https, though a proxy may have taken that off. */
  isSecure(headers: Headers, isTls: boolean): boolean {
    const forwarded = this.#forwarded(headers, 'x-forwarded-proto')
    return forwarded === undefined ? isTls : forwarded.toLowerCase() === 'https'
  }

  /** What lets a page of a configured origin read the answer. For other pages only what caches must know. */
  corsHeaders(origin: string | null): Record<string, string> | undefined {
    if (this.#origins.size === 0) return undefined
    if (!this.#isConfigured(origin)) return { vary: 'Origin' }
    return {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': exposedHeaders,
      vary: 'Origin',
    }
  }

  /** The headers of the 204 that answers a preflight of a configured origin; undefined if it is none. */
  preflight(method: string, headers: Headers): Record<string, string> | undefined {
    const origin = headers.get('origin')
    if (method !== 'OPTIONS' || !headers.has('access-control-request-method') || !this.#isConfigured(origin)) {
      return undefined
    }
    return {
      ...this.corsHeaders(origin),
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': String(preflightSeconds),
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    }
  }

  /** The host that the browser asked for. */
  #checkedHost(headers: Headers, isTls: boolean, url?: string): HostAndPort {
    const scheme = this.#scheme(headers, isTls)
    const text = headers.get('host') ?? (url === undefined ? '' : new URL(url).host)
    const direct = this.#hostOf(text, scheme)
    const forwarded = this.#forwarded(headers, 'x-forwarded-host')
    const asked = forwarded === undefined ? direct : parseHost(forwarded)
    if (direct && asked && (asked === direct || this.#answersTo(asked, scheme))) return asked
    throw new HoldfastError(
      'forbidden_origin',
      'This server does not answer to the host of this request. Its operator can add it with HOLDFAST_HOSTS',
    )
  }

  /** The host that this text names, if it is answered to. */
  #hostOf(text: string, scheme: string): HostAndPort | undefined {
    if (this.#lastHost?.text === text && this.#lastHost.scheme === scheme) return this.#lastHost.host
    const host = parseHost(text)
    if (!host || !this.#answersTo(host, scheme)) return undefined
    this.#lastHost = { text, scheme, host }
    return host
  }

  #checkOrigin(headers: Headers, host: HostAndPort, isTls: boolean): void {
    const text = headers.get('origin')
    if (text === null || this.#isConfigured(text)) return
    const origin = parseOrigin(text)
    const same = originText({ scheme: this.#scheme(headers, isTls), host })
    if (origin && originText(origin) === same) return
    throw new HoldfastError(
      'forbidden_origin',
      'This server does not answer pages of the origin of this request. Its operator can add it with HOLDFAST_ORIGINS',
    )
  }

  #answersTo({ name, port }: HostAndPort, scheme: string): boolean {
    if (isLoopback(name)) return true
    const asked = port ?? defaultPorts[scheme]
    return this.#hosts.some((host) => host.name === name && (host.port === undefined || host.port === asked))
  }

  #isConfigured(origin: string | null): origin is string {
    if (origin === null) return false
    const parsed = parseOrigin(origin)
    return parsed !== undefined && this.#origins.has(originText(parsed))
  }

  #scheme(headers: Headers, isTls: boolean): string {
    return this.isSecure(headers, isTls) ? 'https' : 'http'
  }

  /** The first of a list is what the browser said to the outermost proxy. */
  #forwarded(headers: Headers, name: string): string | undefined {
    return this.#trustsProxy ? headers.get(name)?.split(',')[0]?.trim() : undefined
  }
}

function configuredHost(text: string): HostAndPort {
  const host = parseHost(text)
  if (host) return host
  throw new HoldfastError(
    'invalid_request',
    `${JSON.stringify(text)} is no host. Write example.com or example.com:8443`,
  )
}

function configuredOrigin(text: string): string {
  const origin = parseOrigin(text)
  if (origin) return originText(origin)
  throw new HoldfastError('invalid_request', `${JSON.stringify(text)} is no origin. Write https://example.com`)
}

function parseOrigin(text: string): Origin | undefined {
  const [, scheme, address] = /^([a-z][a-z0-9+.-]*):\/\/([^/]+)$/i.exec(text) ?? []
  if (scheme === undefined || address === undefined) return undefined
  const host = parseHost(address)
  return host && { scheme: scheme.toLowerCase(), host }
}

/** One text for one origin: the port that goes without saying is left out. */
function originText({ scheme, host: { name, port } }: Origin): string {
  const isImplied = port === undefined || port === defaultPorts[scheme]
  return `${scheme}://${name}${isImplied ? '' : `:${port}`}`
}
