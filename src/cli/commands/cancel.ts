import type { Command } from 'commander'
import type { Client } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { exitCodeOf, exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import { naming } from '../naming.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly reason?: string
  readonly tree: boolean
  readonly thread?: string
  readonly all?: true
}

/** `holdfast cancel`: tasks, or what runs in a thread, are to end. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('cancel')
    .summary('cancel tasks, or what runs in a thread')
    .description(
      'Cancels tasks with all that was spawned under them, or what runs in a thread, and prints the ids of what had not ended. ' +
        'It does not wait for their ends.',
    )
    .argument('[ids...]', 'tasks, such as bg_3')
    .option('--reason <text>', 'why; kept in the log, and in the error of the task')
    .option('--no-tree', 'leave alone what was spawned under them')
    .option('--thread <thread>', 'instead of tasks: the live run of this thread with its tree, and all that wait')
    .option('--all', 'with --thread: every live task of it, detached ones too')
    .action(act(cancel))
  withExamples(command, [
    ['holdfast cancel bg_3', 'stop a task and its children'],
    ['holdfast cancel $(holdfast ps -q)', 'stop all that is live'],
    ['holdfast cancel --thread demo --reason "wrong file"', 'stop what runs in a thread'],
  ])
}

/** Prints the ids of what is cancelled: what had not ended. */
async function cancel(cli: Cli, ids: readonly string[], flags: Flags): Promise<number> {
  const { thread } = flags
  if (thread !== undefined && (ids.length > 0 || !flags.tree)) {
    throw wrong('Give either tasks or --thread; --no-tree is for tasks')
  }
  if (flags.all && thread === undefined) throw wrong(`--all is for a thread: ${cli.start} cancel --thread THREAD --all`)
  if (thread === undefined && ids.length === 0) throw wrong('Say what to cancel: tasks, or --thread THREAD')
  const client = await cli.client()
  const reason = flags.reason === undefined ? {} : { reason: flags.reason }
  if (thread === undefined) return cancelTasks(cli, client, ids, { ...reason, tree: flags.tree })
  const scope = flags.all ? 'all' : 'runs'
  const cancelled = await client.cancelThread(thread, { ...reason, scope, signal: cli.signal })
  tell(cli, cancelled)
  if (cancelled.length === 0) cli.show.hint(`Nothing was live in ${thread}`)
  return exitCodes.ok
}

/** What is wrong with one of them keeps none of the others from being cancelled. The first failure is the exit code. */
async function cancelTasks(
  cli: Cli,
  client: Client,
  ids: readonly string[],
  options: { readonly reason?: string; readonly tree: boolean },
): Promise<number> {
  const cancelled: string[] = []
  let code: number = exitCodes.ok
  for (const id of ids) {
    try {
      const reached = await naming('task', id, client.cancel(id, { ...options, signal: cli.signal }))
      if (reached.length === 0) cli.show.notice(`${id} had already ended`)
      cancelled.push(...reached.filter((each) => !cancelled.includes(each)))
    } catch (error) {
      if (ids.length === 1 || cli.signal.aborted) throw error
      cli.complain(error)
      code ||= exitCodeOf(error)
    }
  }
  tell(cli, cancelled)
  return code
}

function tell({ show, global, start }: Cli, cancelled: readonly string[]): void {
  if (global.json) show.json({ cancelled })
  else for (const id of cancelled) show.line(id)
  const [first] = cancelled
  if (first !== undefined) show.hint(`See how it ends: ${start} logs ${first} -f`)
}
