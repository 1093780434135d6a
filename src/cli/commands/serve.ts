import type { Command } from 'commander'
import type { Act } from '../command.ts'
import { withExamples } from '../help.ts'
import type { ServeFlags } from '../serving/serving.ts'
import { storeFlag } from '../settings/store-url.ts'

/** `holdfast serve`: a server until a signal ends it. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('serve')
    .summary('start a server')
    .description(
      'Starts a server and says one line on stdout when it answers. SIGTERM and Ctrl-C drain it: tasks that do not end in time ' +
        'go on when it is started again. Without a token configured it makes one, on loopback only, and prints a login link.\n\n' +
        'All settings, by config file and HOLDFAST_ variables, are in docs/operations.md.',
    )
    .option('--port <number>', 'where to listen; 0 picks a free one (default: 4747)')
    .option('--host <address>', 'which address to listen on (default: 127.0.0.1)')
    .option(
      '--store <url>',
      'sqlite:PATH, postgres://… or memory: (default: a file in the XDG state folder)',
      storeFlag,
    )
    .option(
      '--config <file>',
      'a module whose default export holds settings, or JSON (default: holdfast.config.ts, if there)',
    )
    .action(
      act(async ({ around }, flags: ServeFlags) => {
        // When asked for: help, and commands that only ask a server, do without one.
        const { serve } = await import('../serving/serving.ts')
        await serve(flags, around)
      }),
    )
  withExamples(command, [
    ['holdfast serve', 'on port 4747, with a SQLite file in the state folder'],
    ['holdfast serve --port 0 --store memory:', 'on a free port, and nothing is kept'],
    ['holdfast serve --config ./my.config.ts', 'with the agents and settings of a file'],
  ])
}
