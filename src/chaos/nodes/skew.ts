import { systemClock } from '../../runtime/clock.ts'
import type { Recorder } from '../history/recorder.ts'
import type { SeededRandom } from '../seeded-random.ts'

const skewMsMax = 30 * 60_000

/** What to load into the next process of a node so that its clock is wrong: half of them are, by up to half an hour. */
export function skewOptions(random: SeededRandom, recorder: Recorder, node: string): string[] {
  if (random.chance(0.5)) return []
  const skewMs = random.below(2 * skewMsMax) - skewMsMax
  recorder.write({ kind: 'fault', fault: 'clock skew', node, at: systemClock.now() })
  return [moduleUrl(skewedClock(skewMs))]
}

function skewedClock(skewMs: number): string {
  return `const right = Date
globalThis.Date = class Date extends right {
  constructor(...given) { if (given.length === 0) super(right.now() + ${skewMs}); else super(...given) }
  static now() { return right.now() + ${skewMs} }
}`
}

/** A module as a URL, without a character that options of Node would be split at. */
function moduleUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
