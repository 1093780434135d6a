import type { Command } from 'commander'
import type { Act } from './command.ts'

interface CommandModule {
  readonly define: (program: Command, act: Act) => void
}

type Row = readonly [group: string, name: string, load: () => Promise<CommandModule>]

/** All commands, in the order of the help. The file of a command holds its flags and what it shows. */
const commandList: readonly Row[] = [
  ['Start:', 'dev', () => import('./commands/dev.ts')],
  ['Start:', 'serve', () => import('./commands/serve.ts')],
  ['Work:', 'run', () => import('./commands/run.ts')],
  ['Work:', 'send', () => import('./commands/send.ts')],
  ['Work:', 'answer', () => import('./commands/answer.ts')],
  ['Work:', 'cancel', () => import('./commands/cancel.ts')],
  ['Look:', 'ps', () => import('./commands/ps.ts')],
  ['Look:', 'tree', () => import('./commands/tree.ts')],
  ['Look:', 'inspect', () => import('./commands/inspect.ts')],
  ['Look:', 'logs', () => import('./commands/logs.ts')],
  ['Look:', 'attach', () => import('./commands/attach.ts')],
  ['Look:', 'results', () => import('./commands/results.ts')],
  ['Look:', 'events', () => import('./commands/events.ts')],
  ['Look:', 'threads', () => import('./commands/threads.ts')],
  ['Look:', 'agents', () => import('./commands/agents.ts')],
  ['Keep:', 'doctor', () => import('./commands/doctor.ts')],
  ['Keep:', 'backup', () => import('./commands/backup.ts')],
  ['Keep:', 'migrate', () => import('./commands/migrate.ts')],
  ['Keep:', 'prune', () => import('./commands/prune.ts')],
  ['Other:', 'completion', () => import('./commands/completion.ts')],
  ['Other:', 'version', () => import('./commands/version.ts')],
]

// It completes the names and flags of all the others.
const needsAll = 'completion'

/**
 * Defines the command that is asked for; where none is named first, as for help or after a mistake, all of them. A server lives
 * long, and would keep the code of all other commands in memory.
 */
export async function defineCommands(args: readonly string[], program: Command, act: Act): Promise<void> {
  const asked = commandList.filter(([, name]) => name === args[0] && name !== needsAll)
  const rows = asked.length > 0 ? asked : commandList
  const modules = await Promise.all(rows.map(([, , load]) => load()))
  for (const [index, { define }] of modules.entries()) define(program.commandsGroup(rows[index]?.[0] ?? ''), act)
}
