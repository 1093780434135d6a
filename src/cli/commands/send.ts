import type { Command } from 'commander'
import { argumentText } from '../argument-text.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { naming } from '../naming.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly from?: string
}

/** `holdfast send`: a message to a task. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('send')
    .summary('send a message to a task')
    .description('Sends a message to the inbox of a live task, and prints the id of the message.')
    .argument('<id>', 'a task that is live, such as bg_3')
    .argument('<text>', 'the message; - reads it from stdin')
    .option('--from <label>', 'who says it, as the task sees it')
    .action(act(send))
  withExamples(command, [
    ['holdfast send bg_3 "Look at the second table too"', 'tell a running task something'],
    ['git diff | holdfast send bg_3 -', 'send what another program prints'],
  ])
}

/** Prints the id of the message. */
async function send(cli: Cli, id: string, given: string, { from }: Flags): Promise<void> {
  const { show, signal, global } = cli
  const content = await argumentText(given, 'message', cli)
  // Mostly a variable that nobody has set.
  if (content === '') throw wrong('There is nothing to send: the text is empty')
  const client = await cli.client()
  const message = await naming('task', id, client.send(id, { content, ...(from !== undefined && { from }), signal }))
  if (global.json) show.json({ id: message, task: id })
  else show.line(message)
  show.hint(`Follow it: ${cli.start} logs ${id} -f`)
}
