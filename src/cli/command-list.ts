import type { Command } from 'commander'
import type { Act } from './command.ts'
import { define as agents } from './commands/agents.ts'
import { define as answer } from './commands/answer.ts'
import { define as attach } from './commands/attach.ts'
import { define as backup } from './commands/backup.ts'
import { define as cancel } from './commands/cancel.ts'
import { define as completion } from './commands/completion.ts'
import { define as dev } from './commands/dev.ts'
import { define as doctor } from './commands/doctor.ts'
import { define as events } from './commands/events.ts'
import { define as inspect } from './commands/inspect.ts'
import { define as logs } from './commands/logs.ts'
import { define as migrate } from './commands/migrate.ts'
import { define as prune } from './commands/prune.ts'
import { define as ps } from './commands/ps.ts'
import { define as results } from './commands/results.ts'
import { define as run } from './commands/run.ts'
import { define as send } from './commands/send.ts'
import { define as serve } from './commands/serve.ts'
import { define as threads } from './commands/threads.ts'
import { define as tree } from './commands/tree.ts'
import { define as version } from './commands/version.ts'

type Define = (program: Command, act: Act) => void

/**
 * All commands, in the order of the help. The file of a command holds its flags and what it shows; whatever is heavy, a server
 * or a store above all, it imports when it acts.
 */
export const commandList: readonly (readonly [group: string, define: Define])[] = [
  ['Start:', dev],
  ['Start:', serve],
  ['Work:', run],
  ['Work:', send],
  ['Work:', answer],
  ['Work:', cancel],
  ['Look:', ps],
  ['Look:', tree],
  ['Look:', inspect],
  ['Look:', logs],
  ['Look:', attach],
  ['Look:', results],
  ['Look:', events],
  ['Look:', threads],
  ['Look:', agents],
  ['Keep:', doctor],
  ['Keep:', backup],
  ['Keep:', migrate],
  ['Keep:', prune],
  ['Other:', completion],
  ['Other:', version],
]
