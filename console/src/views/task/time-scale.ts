import { durationText } from '../../design/span-text.ts'
import type { TreeLine } from './task-tree.ts'

/** Where on the screen a time is, in parts of a hundred. */
export interface TimeScale {
  readonly from: number
  readonly to: number
  place(at: number): number
  /** Round times to draw lines at. */
  readonly ticks: readonly { readonly place: number; readonly text: string }[]
}

const round = [1, 2, 5, 10, 15, 30]
const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** As one counts: tens of a second's parts, then parts of a minute, of an hour, and of a day. */
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...round.map((count) => count * second),
  ...round.map((count) => count * minute),
  ...[1, 2, 6, 12, 24, 7 * 24].map((count) => count * hour),
]

// So much room a time takes, such as 1 m 30 s.
const tickPx = 72

/** How many times there is room for beside each other. */
export function tickCountMaxOf(widthPx: number): number {
  return Math.max(2, Math.floor(widthPx / tickPx))
}

/** From the first acceptance to the last end, or to now while anything is live. */
export function timeScale(lines: readonly TreeLine[], now: number, tickCountMax: number): TimeScale {
  const from = Math.min(...lines.map(({ task }) => task.createdAt))
  const to = Math.max(from + 1, ...lines.map(({ task }) => task.completedAt ?? Math.max(now, task.createdAt)))
  const place = (at: number) => Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100))
  const step = steps.find((ms) => (to - from) / ms <= tickCountMax) ?? to - from
  const count = Math.floor((to - from) / step)
  const ticks = Array.from({ length: count + 1 }, (_, at) => ({
    place: place(from + at * step),
    text: at === 0 ? '0' : tickText(at * step),
  }))
  return { from, to, place, ticks }
}

/** Without what is none of it: 4 s, 1 m, 1 m 30 s. */
function tickText(ms: number): string {
  return durationText(ms)
    .replace('.0 ', ' ')
    .replace(/ 0+ [smh]$/, '')
}
