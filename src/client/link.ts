import type { HoldfastError } from '../core/errors.ts'
import { backOffMs } from './back-off.ts'
import type { Step } from './machine.ts'

/**
 * The one WebSocket of a client. It is `idle` while nobody wants it, then `opening`; a page is not told why one cannot be
 * opened, so the client is `probing` by a plain request, then `waiting` to try again. It is `open`, `lingering` for a moment
 * when the last who wanted it has left, `failed` when it was refused for good, until somebody wants it again, and `fallen`
 * when requests come through but WebSockets do not, until it is hastened. `closed` is for good.
 *
 * L1 At most one socket and one timer is under way, never both but while it lingers, and none in `idle`, `failed`, `fallen` and `closed`.
 * L2 Tries follow each other after a wait that grows, and is short again once something was heard on an open socket.
 * L3 It falls back only if it was refused so many times in a row by a server that says it is ready.
 */
export interface Link {
  readonly phase: 'idle' | 'opening' | 'probing' | 'waiting' | 'open' | 'lingering' | 'failed' | 'fallen' | 'closed'
  readonly failures: number
  /** How many times in a row a socket was refused by a server that was ready. */
  readonly refusals: number
}

export type LinkInput =
  | { readonly type: 'want' | 'unwant' | 'opened' | 'heard' | 'due' | 'hasten' | 'close' }
  /** The socket is gone, or never opened. */
  | { readonly type: 'closed'; readonly random: number }
  | { readonly type: 'probed'; readonly found: Probe; readonly random: number }

/** What a plain request found out: nobody is there or not ready, this client is not let in, or all is well. */
export type Probe =
  | { readonly is: 'unready'; readonly retryAfterMs: number }
  | { readonly is: 'refused'; readonly error: HoldfastError }
  | { readonly is: 'ready' }

export type LinkAction =
  | { readonly do: 'open' | 'drop' | 'probe' | 'cancelTimer' | 'attachAll' | 'fallBack' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'failAll'; readonly error: HoldfastError }

type LinkStep = Step<Link, LinkAction>

// Twice, because a server may become ready between the try and the probe.
const refusalsMax = 2
// Views come and go together; the next one should not have to open a socket again.
const lingerMs = 1000

export const idleLink: Link = { phase: 'idle', failures: 0, refusals: 0 }

export function connect(link: Link, input: LinkInput): LinkStep {
  const { phase } = link
  const stay: LinkStep = [link, []]
  // Another network may let WebSockets through.
  if (phase === 'fallen') return input.type === 'hasten' ? [idleLink, []] : stay
  if (phase === 'closed') return stay
  switch (input.type) {
    case 'want':
      return wanted(link)
    case 'unwant':
      return unwanted(link)
    case 'opened':
      return phase === 'opening' ? [{ ...link, phase: 'open' }, [{ do: 'attachAll' }]] : stay
    case 'heard':
      return phase === 'open' && link.failures > 0 ? [{ ...idleLink, phase: 'open' }, []] : stay
    case 'closed':
      return gone(link, input.random)
    case 'probed':
      return phase === 'probing' ? probed(link, input.found, input.random) : stay
    case 'due':
      return due(link)
    case 'hasten':
      return phase === 'waiting' ? [{ ...link, phase: 'opening' }, [{ do: 'cancelTimer' }, { do: 'open' }]] : stay
    case 'close':
      return [{ ...link, phase: 'closed' }, ending(link)]
  }
}

function wanted(link: Link): LinkStep {
  if (link.phase === 'lingering') return [{ ...link, phase: 'open' }, [{ do: 'cancelTimer' }]]
  if (link.phase !== 'idle' && link.phase !== 'failed') return [link, []]
  return [{ ...idleLink, phase: 'opening' }, [{ do: 'open' }]]
}

function unwanted(link: Link): LinkStep {
  if (link.phase === 'open') {
    return [{ ...link, phase: 'lingering' }, [{ do: 'wait', ms: lingerMs }]]
  }
  return link.phase === 'lingering' ? [link, []] : [idleLink, ending(link)]
}

function gone(link: Link, random: number): LinkStep {
  if (link.phase === 'opening') return [{ ...link, phase: 'probing' }, [{ do: 'probe' }]]
  if (link.phase === 'lingering') return [idleLink, [{ do: 'cancelTimer' }]]
  return link.phase === 'open' ? later(link, random) : [link, []]
}

function probed(link: Link, found: Probe, random: number): LinkStep {
  if (found.is === 'refused') {
    return [{ ...link, phase: 'failed' }, [{ do: 'failAll', error: found.error }]]
  }
  if (found.is === 'unready') return later({ ...link, refusals: 0 }, random, found.retryAfterMs)
  const refusals = link.refusals + 1
  if (refusals < refusalsMax) return later({ ...link, refusals }, random)
  return [{ ...link, phase: 'fallen', refusals }, [{ do: 'fallBack' }]]
}

function due(link: Link): LinkStep {
  if (link.phase === 'waiting') return [{ ...link, phase: 'opening' }, [{ do: 'open' }]]
  return link.phase === 'lingering' ? [idleLink, [{ do: 'drop' }]] : [link, []]
}

function later(link: Link, random: number, retryAfterMs?: number): LinkStep {
  const failures = link.failures + 1
  const wait: LinkAction = { do: 'wait', ms: backOffMs(failures, random, retryAfterMs) }
  return [{ ...link, phase: 'waiting', failures }, [wait]]
}

/** What ends whatever is under way. */
function ending({ phase }: Link): readonly LinkAction[] {
  if (phase === 'opening' || phase === 'open') return [{ do: 'drop' }]
  if (phase === 'lingering') return [{ do: 'cancelTimer' }, { do: 'drop' }]
  return phase === 'waiting' ? [{ do: 'cancelTimer' }] : []
}
