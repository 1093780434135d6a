import { HoldfastError, isHoldfastError } from '../../index.ts'
import type { Surroundings } from '../surroundings.ts'

// One of ours on this machine answers at once, and whoever waits has not started anything yet.
const answerMsMax = 1_000

/** What keeps a server from starting; where another one has its port or its store, with the flag that is the way out. */
export async function withWayOut(error: unknown, clock: Surroundings['clock']): Promise<unknown> {
  if (isHoldfastError(error, 'store_locked')) {
    // An object of the config file that is open already is no file.
    return 'path' in error.facts ? saying(error, `${error.message} with --store sqlite:PATH`) : error
  }
  if (!isHoldfastError(error, 'cannot_listen')) return error
  const { reason, host, port } = error.facts
  if (reason !== 'EADDRINUSE') return error
  const isOurs = await isHoldfast(String(host), Number(port), clock)
  const message = isOurs ? error.message.replace('Another program', 'Another Holdfast') : error.message
  return saying(error, `${message} with --port; 0 picks a free one`)
}

function saying({ code, facts, cause }: HoldfastError, message: string): HoldfastError {
  return new HoldfastError(code, message, { facts, cause })
}

async function isHoldfast(host: string, port: number, clock: Surroundings['clock']): Promise<boolean> {
  const late = new AbortController()
  const timer = clock.setTimer(answerMsMax, () => late.abort())
  try {
    const name = host.includes(':') ? `[${host}]` : host
    const { headers } = await fetch(`http://${name}:${port}/healthz`, { signal: late.signal, redirect: 'error' })
    return headers.has('x-holdfast-node')
  } catch {
    // It does not speak HTTP, or not in time.
    return false
  } finally {
    timer.cancel()
  }
}
