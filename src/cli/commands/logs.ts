import type { Command } from 'commander'
import type { ThreadEvent } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { exitCodes, outcomeCode } from '../exit-code.ts'
import { typesFlag, wholeNumberFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import { noticeUnknownTypes } from '../live/event-types.ts'
import { followedEvents, type LogOptions, loggedEvents } from '../live/log-events.ts'
import { logPrinter } from '../live/log-printer.ts'
import { usedLogTarget } from '../live/log-target.ts'
import { Subtree } from '../live/subtree.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly follow?: true
  readonly after?: number
  readonly types?: readonly string[]
  readonly subtree?: true
  readonly exitStatus?: true
}

/** `holdfast logs`: the events of a task or a thread. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('logs')
    .summary('print the events of a task or a thread')
    .description(
      'Prints the events of a task, or of a thread, and ends; with -f it goes on until the task ends, and comes back by itself ' +
        'where the connection is lost: no number is repeated or left out.\n\n' +
        'A line is number, time, type and what the event says; what an agent says piece by piece is joined. In a pipe tabs stand ' +
        'between, and nothing is cut. Where several tasks speak, a line begins with whose it is. With --json one event per line.',
    )
    .argument('<id>', 'a task, such as bg_3, or a thread')
    .option('-f, --follow', 'go on with what comes, until the task ends')
    .option('--after <number>', 'begin after this number', wholeNumberFlag(0))
    .option('--types <list>', 'only events of these types, such as text.delta,tool.call', typesFlag)
    .option('--subtree', 'with the tasks that were spawned under it; lines begin with the name of the task')
    .option('--exit-status', 'end with 3 if the task failed, 8 if it was cancelled, 124 if its time was up')
    .action(act(logs))
  withExamples(command, [
    ['holdfast logs bg_3', 'what has happened so far'],
    ['holdfast logs bg_3 -f --exit-status', 'follow it to its end, and end as it does'],
    ['holdfast logs bg_3 -f --subtree', 'with all its children'],
    ['holdfast logs bg_3 --json | jq .type', 'one JSON object per line'],
  ])
}

async function logs(cli: Cli, id: string, flags: Flags): Promise<number> {
  const { signal } = cli
  const { follow = false, subtree: isTree = false, exitStatus = false, ...rest } = flags
  const client = await cli.client({ isPatient: follow })
  const target = await usedLogTarget(client, id, signal)
  const { task } = target
  noticeUnknownTypes(cli.show, rest.types)
  if (!task && (isTree || exitStatus)) {
    throw wrong(`${id} is a thread; ${isTree ? '--subtree' : '--exit-status'} is for a task`)
  }
  const subtree = task && isTree ? new Subtree(task) : undefined
  const printer = logPrinter(cli, prefixOf(task !== undefined, subtree))
  cli.takeNotices(printer.aside)
  const options: LogOptions = { ...target, after: rest.after, types: rest.types, subtree, signal, onGap: printer.aside }
  for await (const event of follow ? followedEvents(client, options) : loggedEvents(client, options))
    printer.event(event)
  printer.end()
  if (!task || !exitStatus) return exitCodes.ok
  signal.throwIfAborted()
  return outcomeCode(await client.get(task.id, { signal }))
}

/** A log of several tasks says whose each line is. */
function prefixOf(isOneTask: boolean, subtree?: Subtree): ((event: ThreadEvent) => readonly string[]) | undefined {
  if (subtree) return ({ task = '-' }) => [subtree.nameOf(task)]
  return isOneTask ? undefined : ({ task = '-' }) => [task]
}
