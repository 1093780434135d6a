import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

// Four times as much, to which V8 goes by itself, makes no server faster.
const bytesMax = 32 * 1024 ** 2

/**
 * Keeps the room for what was allocated last from growing beyond some megabytes. It grows with what is alive at the same time, as
 * when thousands of streams are opened, and V8 gives it back only when next to nothing is allocated. Whoever says how large it may
 * be, by `--max-semi-space-size`, is not contradicted.
 */
export function limitYoungSpace(nodeFlags: readonly string[]): void {
  if (nodeFlags.some((flag) => flag.includes('semi-space') || flag.includes('semi_space'))) return
  let mayGrow = true
  // It grows only with a collection, and is made smaller by some: then it may grow again.
  const observer = new PerformanceObserver(() => {
    if (mayGrow === youngBytes() < bytesMax) return
    mayGrow = !mayGrow
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  })
  observer.observe({ entryTypes: ['gc'] })
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
}
