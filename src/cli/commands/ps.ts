import { type Command, Option } from 'commander'
import type { Client, Status, Task } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { wholeNumberFlag, wordsFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import type { Show } from '../show/show.ts'
import { taskColumns } from '../tasks/task-columns.ts'
import { branchesOf, nested, treesOf } from '../tasks/task-tree.ts'
import { watchTasks } from '../tasks/watch-tasks.ts'
import { allTasks } from '../tasks/whole-list.ts'

interface Flags {
  readonly all?: true
  readonly status?: Status[]
  readonly thread?: string
  readonly tree?: true
  readonly watch?: true
  readonly q?: true
  readonly limit?: number
}

const statuses: readonly Status[] = ['pending', 'running', 'completed', 'failed', 'cancelled']
const live: readonly Status[] = ['pending', 'running']

/** `holdfast ps`: the tasks that are live, or all of them. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('ps')
    .summary('list tasks')
    .description(
      'Lists tasks, newest first; those that are live unless asked otherwise.\n\n' +
        'On a terminal it is a table, cut to its width. In a pipe it is one line per task without a header, whole values with ' +
        'tabs between: id, status, agent, name, thread, parent, createdAt, startedAt (ISO 8601), description. What a task does ' +
        'not have is empty.',
    )
    .option('-a, --all', 'those that have ended too')
    .addOption(statusOption())
    .option('--thread <thread>', 'only those of a thread')
    .option('--tree', 'children under their parents')
    .option('--watch', 'go on, and show every change: in place on a terminal, else as one more list')
    .option('-q', 'ids only, for $(…)')
    .option('--limit <count>', 'at most so many (default: all)', wholeNumberFlag(1))
    .action(act(ps))
  withExamples(command, [
    ['holdfast ps', 'what is live now'],
    ['holdfast ps --watch', 'the same, as it changes'],
    ['holdfast ps -a --status failed --thread demo', 'what failed in a thread'],
    ['holdfast ps -a --tree', 'who spawned whom'],
    ['holdfast cancel $(holdfast ps -q --thread demo)', 'cancel what is live in a thread'],
    ["holdfast ps --json | jq -r '.tasks[].id'", 'for programs'],
  ])
}

/** Its words are known to the help and to completion; its reader takes several of them. */
function statusOption(): Option {
  return new Option('--status <statuses>', 'only these, with commas between')
    .choices(statuses)
    .argParser(wordsFlag(statuses))
}

async function ps(cli: Cli, flags: Flags): Promise<void> {
  const client = await cli.client({ isPatient: flags.watch === true })
  const list = () => tasksOf(client, flags, cli.signal)
  if (flags.watch) return watchTasks(cli, client, list, (tasks, show) => print(cli, flags, tasks, show))
  const tasks = await list()
  print(cli, flags, tasks, cli.show)
  if (tasks.length === 0) cli.show.hint(nothing(flags, cli.start))
}

function tasksOf(client: Client, flags: Flags, signal: AbortSignal): Promise<readonly Task[]> {
  const { all, thread, limit } = flags
  const status = flags.status ?? (all ? undefined : live)
  return allTasks(client, { ...(status && { status }), ...(thread !== undefined && { thread }), signal }, limit)
}

function print({ around, global }: Cli, { q, tree }: Flags, tasks: readonly Task[], show: Show): void {
  const trees = tree ? treesOf(tasks) : tasks.map((task) => ({ task, children: [] }))
  if (global.json) return show.json({ tasks: tree ? trees.map(nested) : tasks })
  const branches = branchesOf(trees)
  if (!q) return show.table(taskColumns(around.clock.now(), show.style, tree), branches)
  for (const { task } of branches) show.line(task.id)
}

/** What an empty list means, and what to do next. */
function nothing({ all, status, thread }: Flags, start: string): string {
  const where = thread === undefined ? '' : ` in ${thread}`
  if (status) return `No task${where} is ${status.join(' or ')}.`
  return all
    ? `No task${where} yet. Ask an agent: ${start} run <agent> "<prompt>"`
    : `No live task${where}. Those that have ended: ${start} ps -a`
}
