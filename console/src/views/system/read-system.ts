import { type Client, HoldfastError, type Limits } from 'holdfast/client'
import { apiUrl } from '../../place.ts'
import { parseMetrics, type Sample } from './metrics-text.ts'

/** Whether the node takes work, and if not, why. */
export interface Readiness {
  readonly isReady: boolean
  readonly node?: string
  readonly store?: string
  readonly isDurable?: boolean
  readonly notice?: string
}

/** One reading of everything that the public routes tell of the server. */
export interface Reading {
  readonly at: number
  readonly readiness: Readiness
  readonly limits: Limits
  /** Absent if the server keeps its metrics elsewhere. */
  readonly samples?: readonly Sample[]
}

export async function readSystem(client: Client, signal: AbortSignal): Promise<Reading> {
  const [readiness, limits, samples] = await Promise.all([
    readReadiness(signal).catch((cause: unknown) => {
      // What is not heard, and what something in between answers, is in the words of the browser.
      throw new HoldfastError('unreachable', 'It cannot be reached; is the server running?', { cause })
    }),
    client.limits({ signal }),
    readSamples(client, signal),
  ])
  return { at: Date.now(), readiness, limits, ...(samples && { samples }) }
}

/** Asked for directly, because the answer's header names the node, and one that is not ready is an answer too. */
async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch(`${apiUrl}/readyz`, { signal })
  const node = response.headers.get('x-holdfast-node')
  const { store, durable, notice, title, detail } = (await response.json()) as Readonly<Record<string, unknown>>
  const said = [notice, detail, title].find((text) => typeof text === 'string')
  return {
    isReady: response.ok,
    ...(node !== null && { node }),
    ...(typeof store === 'string' && { store }),
    ...(typeof durable === 'boolean' && { isDurable: durable }),
    ...(said !== undefined && { notice: String(said) }),
  }
}

async function readSamples(client: Client, signal: AbortSignal): Promise<readonly Sample[] | undefined> {
  try {
    return parseMetrics(await client.metrics({ signal }))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'not_found') return undefined
    throw error
  }
}
