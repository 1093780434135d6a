import type { Command } from 'commander'
import type { Act } from '../command.ts'
import { withExamples } from '../help.ts'
import type { DevFlags } from '../serving/developing.ts'
import { storeFlag } from '../settings/store-url.ts'

/** `holdfast dev`: a server on this machine with something to watch. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('dev')
    .summary('start a server with a demo to watch')
    .description(
      'Starts a server as serve does, and on it a run of the agent demo in the thread demo, unless one is live: three children that stream, ' +
        'a tool that fails once, a question to you. It needs no account and no key. If the port is taken it takes the next one, and says so. ' +
        'Ctrl-C stops it; tasks stay, and go on at the next start.',
    )
    .option('--port <number>', 'where to listen; 0 picks a free one (default: 4747, or the next free one)')
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
    .option('--no-demo', 'start no demo')
    .action(
      act(async (cli, flags: DevFlags) => {
        const { develop } = await import('../serving/developing.ts')
        await develop(flags, cli)
      }),
    )
  withExamples(command, [
    ['holdfast dev', 'a server, and a demo to watch'],
    ['holdfast attach demo', 'watch it, from another terminal'],
    ['holdfast dev --store memory:', 'and nothing is kept'],
  ])
}
