import { lookup } from 'node:dns/promises'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly Address[]>

export interface PostOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  readonly allowPrivate: boolean
  readonly resolve?: Resolve
}

const resolveBySystem: Resolve = (name) => lookup(name, { all: true, verbatim: true })

/**
 * Posts a body, and says with which status it was answered. Of the answer nothing else is read, and no redirect is followed.
 *
 * N1 A name is resolved once, all its addresses are checked, and the connection is made to what was checked: whoever answers
 *    differently the next time has changed nothing.
 * N2 Every post has a connection of its own, so none goes through one that was checked for another name.
 */
export async function post({ url, headers, body, signal, allowPrivate, resolve }: PostOptions): Promise<number> {
  const addresses = await checkedAddresses(url, allowPrivate, resolve ?? resolveBySystem)
  signal.throwIfAborted()
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const length = String(Buffer.byteLength(body))
  const outgoing = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': length },
    agent: false,
    lookup: answeringWith(addresses),
    signal,
  })
  return statusOf(outgoing, body)
}

function statusOf(outgoing: ClientRequest, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', (response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

async function checkedAddresses(url: URL, allowPrivate: boolean, resolve: Resolve): Promise<readonly Address[]> {
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(name)
  const addresses = family === 0 ? await resolve(name) : [{ address: name, family }]
  if (addresses.length === 0) throw new Error('The host of the webhook has no address')
  if (allowPrivate || addresses.every(({ address }) => isPublicAddress(address))) return addresses
  throw new Error(
    'The host of the webhook has an address that is not public, which is refused unless allowPrivate is set',
  )
}

/** A lookup that knows its answer already; Node asks for one address or for all, as it likes. */
function answeringWith(addresses: readonly Address[]): LookupFunction {
  return (_name, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}
