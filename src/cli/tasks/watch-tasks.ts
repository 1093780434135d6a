import type { Client, Task } from '../../client/index.ts'
import type { Cli } from '../command.ts'
import { exitCodeOf, exitCodes } from '../exit-code.ts'
import { Screen } from '../show/screen.ts'
import { createShow, type Show } from '../show/show.ts'

type Print = (tasks: readonly Task[], show: Show) => void

// What a list of tasks shows the change of.
const types = [
  'task.accepted',
  'task.started',
  'task.resumed',
  'task.cancelling',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'progress',
] as const

// Fast enough to look immediate, slow enough that a storm of events is one list.
const betweenMs = 100
// Ages are shown in seconds.
const tickMs = 1000

/**
 * Shows a list of tasks again whenever an event says that it changed. The live events are listened to before the first list is
 * read, and the list is read again after they were cut off: no change falls between.
 */
export async function watchTasks(
  cli: Cli,
  client: Client,
  list: () => Promise<readonly Task[]>,
  print: Print,
): Promise<void> {
  const painter = createPainter(cli, print)
  let bell = Promise.withResolvers<boolean>()
  // Taken as they come, so that a storm of events is one list and not one list each.
  const opened = Promise.withResolvers<void>()
  const events = client.firehose({ types, signal: cli.signal, onOpen: opened.resolve })
  const over = drain(events, () => bell.resolve(true))
  await Promise.race([over, opened.promise])
  for (;;) {
    const tasks = await patiently(list)
    if (tasks) painter.paint(tasks)
    const isChanged = await Promise.race([bell.promise, over])
    if (!isChanged) return
    await painter.pause(betweenMs)
    // What happens from here on is perhaps not in the next list.
    bell = Promise.withResolvers()
  }
}

/** Resolves with false when there are no more. */
async function drain(events: AsyncIterable<unknown>, onEvent: () => void): Promise<false> {
  for await (const _event of events) onEvent()
  return false
}

/** The last list stands while the server is away; the firehose says when it is back. */
async function patiently<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    if (exitCodeOf(error) === exitCodes.unreachable) return undefined
    throw error
  }
}

interface Painter {
  paint(tasks: readonly Task[]): void
  pause(ms: number): Promise<void>
}

/** In place on a terminal, where ages go on as well; elsewhere one list after the other, each if it differs from the last. */
function createPainter({ around, global, show, signal }: Cli, print: Print): Painter {
  const { clock, err, isTty, columns } = around
  const isInPlace = isTty.out && !global.json && around.env['TERM'] !== 'dumb'
  const screen = new Screen(around)
  let shown: readonly Task[] = []
  let last: string | undefined
  const text = (): string => {
    let written = ''
    const out = (more: string) => {
      written += more
    }
    print(shown, createShow({ out, err, isTty, columns }, global))
    return written
  }
  const draw = () => {
    const now = text()
    if (isInPlace) return screen.paint(now || show.style.dim('No such task.\n'))
    if (now !== last) around.out(last === undefined || global.json ? now : `\n${now}`)
    last = now
  }
  const tick = () => {
    if (signal.aborted) return
    draw()
    clock.setTimer(tickMs, tick)
  }
  let isTicking = false
  return {
    paint(tasks) {
      shown = tasks
      draw()
      if (isInPlace && !isTicking) clock.setTimer(tickMs, tick)
      isTicking = true
    },
    pause: (ms) => new Promise((resolve) => void clock.setTimer(ms, resolve)),
  }
}
