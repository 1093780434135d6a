import type { Command } from 'commander'
import type { ThreadLine } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { wholeNumberFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import { age } from '../show/ages.ts'
import { wholeList } from '../tasks/whole-list.ts'

interface Flags {
  readonly limit?: number
}

/** `holdfast threads`: the principal's threads, newest first. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('threads')
    .summary('list threads')
    .description(
      'Lists the threads of whoever asks, those last written to first.\n\n' +
        'In a pipe: thread, last event number, first kept event number, and when it was last written to (ISO 8601), tab-separated.',
    )
    .option('--limit <count>', 'at most so many (default: all)', wholeNumberFlag(1))
    .action(act(threads))
  withExamples(command, [
    ['holdfast threads', 'all of them'],
    ['holdfast threads --limit 5', 'the five that were written to last'],
    ['holdfast threads --json', 'one document, for programs'],
  ])
}

async function threads({ client, start, around, global, show, signal }: Cli, { limit }: Flags): Promise<void> {
  const server = await client()
  const found = await wholeList(async (page) => {
    const { threads: items, cursor } = await server.threads({ ...page, signal })
    return { items, cursor }
  }, limit)
  if (global.json) return show.json({ threads: found })
  const now = around.clock.now()
  show.table<ThreadLine>(
    [
      { title: 'THREAD', value: ({ thread }) => thread, shrinks: true },
      { title: 'EVENTS', value: ({ head }) => String(head) },
      { title: 'FIRST KEPT', value: ({ first }) => String(first) },
      { title: 'LAST EVENT', value: ({ at }) => new Date(at).toISOString(), shown: ({ at }) => `${age(now - at)} ago` },
    ],
    found,
  )
  if (found.length === 0)
    show.hint(`No threads yet. A run makes one: ${start} run <agent> "<prompt>" --thread <thread>`)
}
