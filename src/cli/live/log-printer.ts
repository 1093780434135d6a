import type { ThreadEvent } from '../../client/index.ts'
import type { Cli } from '../command.ts'
import { EventLines } from './event-lines.ts'

/** Writes a log to stdout, and what is said about it to stderr. */
export interface LogPrinter {
  event(event: ThreadEvent): void
  aside(text: string): void
  /** Ends the last line. */
  end(): void
}

export function logPrinter(cli: Cli, prefix?: (event: ThreadEvent) => readonly string[]): LogPrinter {
  const { show, around, global } = cli
  if (global.json) return { event: show.jsonLine, aside: show.notice, end: () => {} }
  const lines = new EventLines({
    style: show.style,
    ...(around.isTty.out && { columns: around.columns }),
    ...(prefix && { prefix }),
  })
  const end = () => around.out(lines.end())
  return {
    event: (event) => around.out(lines.add(event)),
    aside: (text) => {
      // On a terminal both are the same screen, and a text may be in the middle of a line.
      if (around.isTty.out && around.isTty.err) end()
      show.notice(text)
    },
    end,
  }
}
