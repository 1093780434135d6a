import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { typesFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import { noticeUnknownTypes } from '../live/event-types.ts'
import { logPrinter } from '../live/log-printer.ts'

/** `holdfast events`: what happens in all threads, from now on. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('events')
    .summary('print what happens in all threads')
    .description(
      'Prints the events of all threads from now on, until Ctrl-C. Nothing is replayed; what must not be missed is in `holdfast logs`.\n\n' +
        'In a pipe: thread, task, number, time, type and what the event says, tab-separated. With --json one event per line.',
    )
    .option('--types <list>', 'only events of these types, such as task.completed,task.failed', typesFlag)
    .action(act(events))
  withExamples(command, [
    ['holdfast events', 'watch everything, until Ctrl-C'],
    ['holdfast events --types task.failed --json', 'one JSON object for each task that fails'],
  ])
}

/** Nothing is replayed: where the connection was lost, it says so, in the data too. */
async function events(cli: Cli, { types }: { readonly types?: readonly string[] }): Promise<void> {
  const { show, signal, global } = cli
  const client = await cli.client({ isPatient: true })
  const printer = logPrinter(cli, ({ thread, task = '-' }) => [thread, task])
  cli.takeNotices(printer.aside)
  noticeUnknownTypes(show, types)
  show.hint('Events of all threads from now on; Ctrl-C ends this, and no task')
  for await (const item of client.firehose({ signal, ...(types && { types }) })) {
    if (item.type !== 'missed') printer.event(item)
    else if (global.json) show.jsonLine(item)
    else printer.aside('The connection was lost for a while; what happened meanwhile is not here')
  }
  printer.end()
}
