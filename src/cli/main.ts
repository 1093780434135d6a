import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import type { ServeFlags, Surroundings } from './commands/serve.ts'
import { nearest } from './nearest.ts'

// A server that does not start says 1, whatever was wrong; a command that cannot be understood says 2.
const failedCode = 1
const usageCode = 2

/** Runs the command line. Resolves with the exit code, or with undefined if the process is to go on by itself. */
export async function main(args: readonly string[], around: Surroundings): Promise<number | undefined> {
  const program = commandLine(around)
  try {
    await program.parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return understood(error, program, args, around)
    around.err(`holdfast: ${printable(error instanceof Error ? error.message : String(error))}\n`)
    return failedCode
  }
}

function commandLine(around: Surroundings): Command {
  const program = new Command('holdfast')
    .description('Agent runs that outlive the connection')
    .version(version(), '-V, --version', 'print the version')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: around.out, writeErr: around.err, outputError: () => {} })
  program
    .command('serve')
    .description('start a server')
    .option('--port <number>', 'where to listen; 0 picks a free one (default: 4747)')
    .option('--host <address>', 'which address to listen on (default: 127.0.0.1)')
    .option('--store <url>', 'sqlite:PATH or memory: (default: a file in the XDG state folder)')
    .option('--config <file>', 'a module whose default export holds settings (default: holdfast.config.ts, if there)')
    .action(async (flags: ServeFlags) => {
      // When asked for: help, and commands that only ask a server, do without one.
      const { serve } = await import('./commands/serve.ts')
      await serve(flags, around)
    })
  return program
}

function understood(error: CommanderError, program: Command, args: readonly string[], around: Surroundings): number {
  if (error.exitCode === 0) return 0
  if (error.code === 'commander.help') return usageCode
  around.err(`holdfast: ${printable(error.message.replace(/^error: /, ''))}${suggestion(error, program, args)}\n`)
  return args[0] === 'serve' ? failedCode : usageCode
}

/** What a flag or a command that is not there was probably meant to be. */
function suggestion({ code, message }: CommanderError, program: Command, args: readonly string[]): string {
  const asked = /'(.*)'/s.exec(message)?.[1] ?? ''
  const command = program.commands.find((each) => each.name() === args[0]) ?? program
  const flags = command.options.flatMap(({ long }) => long ?? [])
  const names = program.commands.map((each) => each.name())
  if (code === 'commander.unknownOption') return `. The nearest is ${nearest(asked, [...flags, '--help'])}`
  return code === 'commander.unknownCommand' ? `. The nearest is ${nearest(asked, names)}` : ''
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return (manifest as { readonly version: string }).version
}

/** What is printed as one line stays one, whatever a file name or a message holds. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim()
}
