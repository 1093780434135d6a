import type { Command } from 'commander'
import { type Client, isHoldfastError, type Task } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { namedTask } from '../naming.ts'
import { cut } from '../show/display-width.ts'
import { oneLine } from '../show/plain-text.ts'
import { statusWord } from '../show/status-word.ts'
import { ran, shownStatus } from '../tasks/task-columns.ts'
import { type Branch, branchesOf, nested, type TaskNode, treesOf } from '../tasks/task-tree.ts'
import { allTasks } from '../tasks/whole-list.ts'

// As many as a server answers side by side without noticing.
const askedAtOnce = 16

/** `holdfast tree`: the whole tree that a task belongs to. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('tree')
    .summary('draw the tree of a task')
    .description(
      'Draws the whole tree that a task belongs to, from its root down, with the status of each; the task itself is marked.',
    )
    .argument('<id>', 'any task of the tree')
    .action(act(tree))
  withExamples(command, [
    ['holdfast tree bg_3', 'where bg_3 stands, and what it spawned'],
    ['holdfast tree bg_3 --json', 'one document, each task with its children in it'],
  ])
}

async function tree(cli: Cli, id: string): Promise<void> {
  const { around, global, show, signal } = cli
  const client = await cli.client()
  const root = await rootOf(client, await namedTask(client, id, signal), signal)
  const [found] = treesOf([root, ...(await descendantsOf(client, root, signal))]) as [TaskNode]
  if (global.json) return show.json(nested(found))
  const now = around.clock.now()
  const width = around.isTty.out ? around.columns() : Number.POSITIVE_INFINITY
  for (const branch of branchesOf([found])) show.line(line(cli, branch, id, { now, width }))
}

function line(
  { show: { style } }: Cli,
  { task, lines }: Branch,
  id: string,
  room: { now: number; width: number },
): string {
  const status = `${lines}${shownStatus(task)}`
  const rest = [
    task.id,
    task.name ?? task.agent ?? task.type,
    ran(task, room.now),
    task.id === id ? '◀' : '',
    task.description === (task.name ?? task.agent) ? '' : task.description,
  ]
  const text = cut(oneLine(`${status}  ${rest.filter(Boolean).join('  ')}`), room.width)
  const paint = style[statusWord(task).style]
  const painted = `${text.slice(0, lines.length)}${paint(text.slice(lines.length, status.length))}${text.slice(status.length)}`
  return task.id === id ? style.bold(painted) : painted
}

/** Up as far as one can see: a task that is gone, or another's, ends the way. */
async function rootOf(client: Client, task: Task, signal: AbortSignal): Promise<Task> {
  let root = task
  while (root.parent?.task !== undefined) {
    try {
      root = await client.get(root.parent.task, { signal })
    } catch (error) {
      if (isHoldfastError(error, 'not_found')) return root
      throw error
    }
  }
  return root
}

/** Level by level: those of a thread may be far more than those of a tree. */
async function descendantsOf(client: Client, root: Task, signal: AbortSignal): Promise<readonly Task[]> {
  const found: Task[] = []
  const waiting: Task[] = [root]
  while (waiting.length > 0) {
    const children = (
      await Promise.all(waiting.splice(0, askedAtOnce).map((each) => allTasks(client, { parent: each.id, signal })))
    ).flat()
    found.push(...children)
    waiting.push(...children)
  }
  return found
}
