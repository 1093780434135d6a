import type { Command } from 'commander'
import type { Client } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import { followedEvents } from '../live/log-events.ts'
import { logPrinter } from '../live/log-printer.ts'
import { logTarget, usedLogTarget } from '../live/log-target.ts'

interface Flags {
  readonly agent?: string
}

/** `holdfast attach`: a thread on a terminal, and a line to type on. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('attach')
    .summary('watch a thread and talk to it')
    .description(
      'Shows a thread as it goes on, with a line to type on: a text asks the agent, or steers the run that is live; /help shows ' +
        'what else there is. Ctrl-C detaches and the work goes on; a second one within 2 s asks whether to cancel it.\n\n' +
        'Elsewhere than on a terminal it is `holdfast logs -f` of the thread.',
    )
    .argument('<id>', 'a thread, or a task, whose thread is meant')
    .option('--agent <name>', 'who answers what is typed (default: the agent of the last run)')
    .action(act(attach))
  withExamples(command, [
    ['holdfast attach demo', 'come back to a conversation'],
    ['holdfast attach bg_3', 'to the one that a task belongs to'],
    ['holdfast attach new --agent helper', 'begin one'],
  ])
}

async function attach(cli: Cli, id: string, { agent }: Flags): Promise<number> {
  const { around, signal, global } = cli
  const client = await cli.client({ isPatient: true })
  // A dumb terminal cannot draw a line twice.
  const isScreen = around.isTty.out && around.isTty.input && around.env['TERM'] !== 'dumb' && !global.json
  // Where nobody can type, a thread in which nothing ever was would be waited for without end.
  if (!isScreen) return printLog(cli, client, (await usedLogTarget(client, id, signal)).thread)
  const target = await logTarget(client, id, signal)
  const { Attached } = await import('../attach/attached.ts')
  const attached = new Attached(cli, client, { ...target, ...(agent !== undefined && { agent }) })
  cli.takeNotices((text) => attached.note(text))
  return attached.run()
}

async function printLog(cli: Cli, client: Client, thread: string): Promise<number> {
  const { signal, show, start } = cli
  show.notice(`This is no terminal to type on; the log of ${thread} follows, as by ${start} logs -f ${thread}`)
  const printer = logPrinter(cli, ({ task = '-' }) => [task])
  cli.takeNotices(printer.aside)
  for await (const event of followedEvents(client, { thread, signal, onGap: printer.aside })) printer.event(event)
  printer.end()
  return exitCodes.ok
}
