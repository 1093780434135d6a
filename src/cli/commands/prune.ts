import type { Command } from 'commander'
import type { Client, Pruned, PruneOptions } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { durationFlag, wholeNumberFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly eventsOlderThan?: number
  readonly keepEvents?: number
  readonly threadsOlderThan?: number
  readonly dryRun?: true
}

/** `holdfast prune`: removes old events and old threads of whoever asks. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('prune')
    .summary('remove old events and old threads')
    .description(
      'Removes old events and threads of the caller, beside work that goes on. Events go from the front of a log; messages, tasks and results ' +
        'stay. An old thread goes with all that it holds. Nothing goes that belongs to a task which has not ended, or to a result that ' +
        'nobody took.\n\nIn a pipe: threads, events and tasks removed, tab-separated.',
    )
    .option('--events-older-than <time>', 'events older than a time such as 7d or 12h', durationFlag)
    .option('--keep-events <count>', 'all but the newest events of each thread', wholeNumberFlag(1))
    .option('--threads-older-than <time>', 'threads in which nothing has happened for a time', durationFlag)
    .option('--dry-run', 'only say how much it would be')
    .action(act(prune))
  withExamples(command, [
    ['holdfast prune --events-older-than 7d', 'forget how answers came about, keep the answers'],
    ['holdfast prune --keep-events 1000', 'at most a thousand events per thread'],
    ['holdfast prune --threads-older-than 30d --dry-run', 'how much would go'],
  ])
}

async function prune({ client, global, show, signal, around }: Cli, flags: Flags): Promise<void> {
  const options = optionsOf(flags)
  const pruned = await pruneAll(await client(), { ...options, signal })
  if (pruned.skipped !== undefined) show.hint(skippedText(pruned.skipped))
  if (global.json) return show.json(pruned)
  const counts = [pruned.threads, pruned.events, pruned.tasks]
  if (!around.isTty.out) return show.line(counts.join('\t'))
  const [threads, events, tasks] = [
    counted(pruned.threads, 'thread'),
    counted(pruned.events, 'event'),
    counted(pruned.tasks, 'task'),
  ]
  if (!flags.dryRun) return show.line(`Removed ${events}, and ${threads} with ${tasks}`)
  show.line(`Would remove up to ${events}, and ${threads} with ${tasks}`)
  show.hint('Leave out --dry-run to remove them')
}

function optionsOf({ eventsOlderThan, keepEvents, threadsOlderThan, dryRun }: Flags): PruneOptions {
  if ((eventsOlderThan ?? keepEvents ?? threadsOlderThan) === undefined)
    throw wrong('Say what to remove: --events-older-than, --keep-events or --threads-older-than')
  return {
    ...(eventsOlderThan !== undefined && { eventsMs: eventsOlderThan }),
    ...(keepEvents !== undefined && { eventsPerThread: keepEvents }),
    ...(threadsOlderThan !== undefined && { threadsMs: threadsOlderThan }),
    ...(dryRun && { dryRun }),
  }
}

/** A server does some at a time. */
async function pruneAll(server: Client, options: PruneOptions): Promise<Omit<Pruned, 'cursor'>> {
  let [threads, events, tasks, skipped] = [0, 0, 0, 0]
  let cursor: string | undefined
  do {
    const done: Pruned = await server.prune({ ...options, ...(cursor !== undefined && { cursor }) })
    threads += done.threads
    events += done.events
    tasks += done.tasks
    skipped += done.skipped ?? 0
    cursor = done.cursor
  } while (cursor !== undefined)
  return { threads, events, tasks, ...(skipped > 0 && { skipped }) }
}

function skippedText(count: number): string {
  return `${counted(count, 'thread')} could not be pruned: held by another program, or not to be read. The server's log has more`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
