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

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((ms) => [ms, ms * 1000])
const long = [1, 2, 5, 10, 20, 30, 60, 120, 360, 720, 1440, 10_080].map((minutes) => minutes * 60_000)
const allSteps = [...steps, ...long].toSorted((one, other) => one - other)
/** How many there is room for beside each other. */
export const ticksMax = { wide: 7, narrow: 3 } as const

/** From the first acceptance to the last end, or to now while anything is live. */
export function timeScale(lines: readonly TreeLine[], now: number, tickCountMax: number = ticksMax.wide): TimeScale {
  const from = Math.min(...lines.map(({ task }) => task.createdAt))
  const to = Math.max(from + 1, ...lines.map(({ task }) => task.completedAt ?? Math.max(now, task.createdAt)))
  const place = (at: number) => Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100))
  const step = allSteps.find((ms) => (to - from) / ms <= tickCountMax) ?? to - from
  const count = Math.floor((to - from) / step)
  const ticks = Array.from({ length: count + 1 }, (_, at) => ({
    place: place(from + at * step),
    text: at === 0 ? '0' : durationText(at * step).replace('.0 ', ' '),
  }))
  return { from, to, place, ticks }
}
