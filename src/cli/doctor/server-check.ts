import type { ClientClock } from '../../client/index.ts'
import type { ServerAddress } from '../settings/server-address.ts'
import { type Check, note, ok, wrongly } from './check.ts'

// A server on this machine that takes longer has something wrong with it.
const answerMsMax = 3_000

interface Probe {
  readonly isAlive: boolean
  /** Who answers. */
  readonly node?: string
  readonly readiness?: { readonly status: number; readonly body: unknown }
  /** Where the token was taken from that it refuses; empty if it was given none and wants one. */
  readonly refused?: string
}

export interface ServerFindings {
  readonly check: Check
  readonly node?: string
  /** The kind of its store, if it takes work. */
  readonly store?: string
}

/** What is known of who has the store. */
interface StoreUse {
  readonly isHeld: boolean
  readonly nodeCount?: number
}

interface Patience {
  readonly clock: ClientClock
  readonly signal: AbortSignal
}

/** Whether a server answers where clients would look for one, takes work, and takes the token that they would give it. */
export async function serverCheck(
  address: ServerAddress,
  use: StoreUse,
  patience: Patience,
  start: string,
): Promise<ServerFindings> {
  const probed = await probe(address, patience)
  const { node } = probed
  const store = storeOf(probed)
  return {
    check: serverFinding(address.url, use, probed, start),
    ...(node !== undefined && { node }),
    ...(store !== undefined && { store }),
  }
}

export function serverFinding(url: string, { isHeld, nodeCount = 0 }: StoreUse, probed: Probe, start: string): Check {
  const { isAlive, readiness, refused } = probed
  const name = 'server'
  if (!isAlive && nodeCount > 0) {
    const nodes = nodeCount === 1 ? 'a node has a lease' : `${nodeCount} nodes have a lease`
    const advice = `Tell where ${nodeCount === 1 ? 'it' : 'one of them'} listens with --url or HOLDFAST_URL`
    return note(name, `None answers at ${url}, but ${nodes}`, advice)
  }
  if (!isAlive && !isHeld) return note(name, `None answers at ${url}`, `${start} serve starts one`)
  if (!isAlive) {
    const advice = 'Tell where it listens with --url or HOLDFAST_URL; if it listens there, it hangs: restart it'
    return wrongly(name, `None answers at ${url}, but one has the store open`, advice)
  }
  if (refused !== undefined) {
    const finding = refused === '' ? 'wants a token' : `refuses the token of ${refused}`
    const advice = 'Give the token of that server with --token or HOLDFAST_TOKEN'
    return wrongly(name, `${url} answers, but ${finding}`, advice)
  }
  if (readiness?.status === 200) {
    const store = storeOf(probed)
    const answer = ok(name, `${url} answers and takes work${store === undefined ? '' : ` (${store})`}`)
    if (isHeld || store !== 'sqlite') return answer
    return note(name, `${url} answers, on another store than this one`)
  }
  const { code } = (readiness?.body ?? {}) as { readonly code?: unknown }
  if (code === 'draining') return note(name, `${url} answers, and is shutting down`)
  return wrongly(name, `${url} answers, but takes no work`, 'Its log says why; so may the other checks')
}

function storeOf({ readiness }: Probe): string | undefined {
  const { store } = (readiness?.body ?? {}) as { readonly store?: unknown }
  return readiness?.status === 200 && typeof store === 'string' ? store : undefined
}

async function probe({ url, token, tokenFrom = '' }: ServerAddress, { clock, signal }: Patience): Promise<Probe> {
  const base = url.replace(/\/+$/, '')
  const late = new AbortController()
  const timer = clock.setTimer(answerMsMax, () => late.abort())
  const either = AbortSignal.any([signal, late.signal])
  try {
    const health = await get(`${base}/healthz`, either)
    // Anything can listen on a port; only ours says this.
    const isAlive = health?.status === 200 && (health.body as { status?: unknown } | undefined)?.status === 'ok'
    const readiness = isAlive ? await get(`${base}/readyz`, either) : undefined
    // Every command needs what the two above do without.
    const agents = isAlive ? await get(`${base}/v1/agents`, either, token) : undefined
    signal.throwIfAborted()
    const node = isAlive ? health.node : undefined
    return {
      isAlive,
      ...(node !== undefined && { node }),
      ...(readiness && { readiness }),
      ...(agents?.status === 401 && { refused: tokenFrom }),
    }
  } finally {
    timer.cancel()
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly node: string | undefined
}

async function get(url: string, signal: AbortSignal, token?: string): Promise<Answer | undefined> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  try {
    const response = await fetch(url, { signal, redirect: 'error', headers })
    const node = response.headers.get('x-holdfast-node') ?? undefined
    return { status: response.status, body: await response.json(), node }
  } catch {
    // Nobody there, nobody of ours, or not in time.
    return undefined
  }
}
