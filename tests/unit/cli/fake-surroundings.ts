import type { Surroundings } from '../../../src/cli/surroundings.ts'

export interface FakeOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  /** Whether all three streams are a terminal. */
  readonly isTty?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly now?: number
}

/** A world around a command that is a test's: it hears what is written, and moves what happens. */
export interface FakeSurroundings extends Surroundings {
  readonly written: { out: string; err: string }
  interrupt(): void
  closeOutput(): void
  /** Fires every timer that is set. */
  fireTimers(): void
}

export function fakeSurroundings(options: FakeOptions = {}): FakeSurroundings {
  const { env = {}, folder = '/', isTty = false, columns = 80, rows = 24, now = 0 } = options
  const written = { out: '', err: '' }
  const interrupts = new Set<() => void>()
  const closings = new Set<() => void>()
  const timers = new Set<() => void>()
  const call = (listeners: Set<() => void>): void => {
    for (const listener of [...listeners]) listener()
  }
  const add = (listeners: Set<() => void>, listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    env,
    folder,
    out: (text) => {
      written.out += text
    },
    err: (text) => {
      written.err += text
    },
    input: process.stdin,
    isTty: { out: isTty, err: isTty, input: isTty },
    columns: () => columns,
    rows: () => rows,
    onInterrupt: (listener) => add(interrupts, listener),
    onOutputClosed: (listener) => add(closings, listener),
    clock: { now: () => now, setTimer: (_afterMs, fire) => ({ cancel: add(timers, fire) }) },
    written,
    interrupt: () => call(interrupts),
    closeOutput: () => call(closings),
    fireTimers: () => call(timers),
  }
}
