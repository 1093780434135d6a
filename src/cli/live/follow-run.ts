import type { Accepted, Client, Task } from '../../client/index.ts'
import type { Cli } from '../command.ts'
import { outcomeCode } from '../exit-code.ts'
import { isEvent } from './log-events.ts'
import { RunPrinter, type RunShows } from './run-printer.ts'

/** Follows a run to its end, and gives the exit code that mirrors it. An interrupt only detaches. */
export async function followRun(cli: Cli, client: Client, accepted: Accepted, shows: RunShows): Promise<number> {
  const { signal, show, start } = cli
  const task = accepted as Task
  const printer = new RunPrinter(cli, task, shows)
  cli.leaves({ task: task.id, thread: task.thread })
  cli.takeNotices((text) => printer.aside(text))
  try {
    // Where an answer came late, something may have happened before it.
    const after = accepted.isReplayed ? 0 : accepted.seq
    for await (const item of client.thread(task.thread).attach({ task: task.id, after, signal })) {
      if (isEvent(item)) printer.event(item)
    }
    signal.throwIfAborted()
    const ended = await client.get(task.id, { signal })
    printer.end(ended)
    if (cli.global.json && shows === 'result') show.json(ended)
    return outcomeCode(ended)
  } catch (error) {
    printer.close()
    if (signal.aborted)
      show.hint(`${task.id} goes on. Come back: ${start} logs ${task.id} -f; stop it: ${start} cancel ${task.id}`)
    throw error
  }
}
