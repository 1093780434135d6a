import { isHoldfastError } from '../core/errors.ts'
import { backOffMs } from './back-off.ts'
import { pause } from './clock.ts'
import type { ConnectionMonitor } from './connection.ts'
import { type EventSourceParts, frames, openStream } from './event-source.ts'
import { isPassing } from './failure.ts'
import { typesQuery } from './source.ts'
import type { CustomEvent, ThreadEvent } from './thread-event.ts'

export interface FirehoseParts extends EventSourceParts {
  readonly random: () => number
  readonly monitor: ConnectionMonitor
}

export interface FirehoseOptions {
  readonly types?: readonly string[]
  readonly signal: AbortSignal
}

/** What a firehose gives. `missed` says that it was cut off and has come back: what happened between is not in it. */
export type FirehoseItem<Custom extends CustomEvent = CustomEvent> = ThreadEvent<Custom> | { readonly type: 'missed' }

/**
 * The live events of all threads. Nothing is replayed: after a cut `missed` stands for what may have happened meanwhile, and
 * who needs it reads the threads. It ends when the signal fires or the loop is left.
 */
export async function* firehose(
  parts: FirehoseParts,
  { types, signal }: FirehoseOptions,
): AsyncGenerator<FirehoseItem, undefined> {
  const { random, monitor, clock } = parts
  const owner = {}
  let wasOpen = false
  let failures = 0
  try {
    while (!signal.aborted) {
      monitor.set(owner, { is: 'connecting', hasFailed: failures > 0 })
      try {
        const response = await openStream(parts, '/v1/events', typesQuery(types), signal)
        monitor.set(owner, { is: 'live' })
        failures = 0
        if (wasOpen) yield { type: 'missed' }
        wasOpen = true
        for await (const text of frames(parts, response)) yield JSON.parse(text) as ThreadEvent
      } catch (error) {
        if (signal.aborted) return
        if (isHoldfastError(error) && !isPassing(error)) throw error
      }
      failures += 1
      const ms = backOffMs(failures, random())
      monitor.set(owner, { is: 'waiting', ms })
      await pause(clock, ms, signal).catch(() => {})
    }
  } finally {
    monitor.set(owner, undefined)
  }
}
