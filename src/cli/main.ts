import { Command, CommanderError } from 'commander'
import { type CommandEnd, createAct, type GlobalFlags } from './command.ts'
import { defineCommands } from './command-list.ts'
import { commandStart } from './command-start.ts'
import { exitCodeOf, exitCodes } from './exit-code.ts'
import { failureText } from './failure.ts'
import { timeLimitFlag } from './flag-value.ts'
import { withExamples } from './help.ts'
import { nearestHint } from './nearest.ts'
import type { Surroundings } from './surroundings.ts'
import { packageVersion } from './version.ts'

// A server that does not start says 1, whatever was wrong.
const servers: readonly string[] = ['dev', 'serve']

/** Runs the command line. Resolves with the exit code, or with undefined if the process is to go on by itself. */
export async function main(args: readonly string[], around: Surroundings): Promise<number | undefined> {
  const end: CommandEnd = { code: undefined }
  const program = commandLine(around)
  await defineCommands(args, program, createAct(program, around, end))
  program.helpCommand('help [command]', 'print the manual page of a command')
  let asked = program
  program.hook('preSubcommand', (_program, command) => {
    asked = command
  })
  try {
    checkHelp(program, args)
    await program.parseAsync(args, { from: 'user' })
    return end.code
  } catch (error) {
    return explain(error, program, asked, around)
  }
}

/** Without this, help for a command that is not there is the help of the program. */
function checkHelp(program: Command, args: readonly string[]): void {
  if (!args.includes('help')) return
  const [asked, name] = program.parseOptions([...args]).operands
  if (asked !== 'help' || name === undefined || name === 'help') return
  if (program.commands.some((command) => command.name() === name)) return
  program.error(`unknown command '${name}'`, { code: 'commander.unknownCommand' })
}

/** What the program says of a mishap that is not its command's. */
export function complaint(args: readonly string[], message: string): string {
  return failureText(new Error(message), { json: args.includes('--json'), quiet: false, exitCode: exitCodes.error })
}

function commandLine(around: Surroundings): Command {
  const program = new Command('holdfast')
    .description('Agent runs that outlive the connection.')
    .usage('<command> [options]')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what this is and how it is used')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: around.out,
      writeErr: around.err,
      outputError: () => {},
      getOutHelpWidth: around.columns,
      getErrHelpWidth: around.columns,
    })
  program
    .option('--url <url>', 'where the server is (HOLDFAST_URL; default: http://127.0.0.1:4747)')
    .option('--token <token>', 'who is asking (HOLDFAST_TOKEN; default: the token of the local server)')
    .option('--json', 'print JSON, for programs')
    .option('--quiet', 'print no hints and no progress')
    .option('--no-color', 'print no colours (NO_COLOR)')
    .option('--timeout <time>', 'give up after a time such as 500ms, 5s or 2m, with exit code 124', timeLimitFlag)
  withExamples(program, [
    ['holdfast dev', 'start a server on this machine, with a demo to watch'],
    ['holdfast run echo "hello" --follow', 'ask an agent, and watch it answer'],
    ['holdfast ps --watch', 'what is live, as it changes'],
    ['holdfast inspect bg_3', 'why a task does not move'],
    ['holdfast <command> --help', 'the manual page of a command'],
  ])
  program.addHelpText('after', exitCodeHelp)
  return program
}

const exitCodeHelp = `
Exit codes:
  0 ok · 1 error · 2 usage · 3 task failed · 4 not authorised · 5 not found · 6 conflict
  7 server unreachable · 8 task cancelled · 124 timeout · 130 interrupted`

function explain(error: unknown, program: Command, asked: Command, around: Surroundings): number {
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok
  // The help stands there already.
  if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage
  const { json = false, quiet = false, url } = program.opts<GlobalFlags>()
  const isServer = servers.includes(asked.name())
  const misused = error instanceof CommanderError ? misuse(error, program, asked, commandStart(around.env)) : undefined
  const exitCode = isServer ? exitCodes.error : misused ? exitCodes.usage : exitCodeOf(error)
  around.err(failureText(misused ?? error, { json, quiet: quiet || isServer, exitCode, env: around.env, url }))
  return exitCode
}

function misuse(error: CommanderError, program: Command, asked: Command, start: string): Error {
  return new Error(`${error.message.replace(/^error: /, '')}${suggestion(error, program, asked, start)}`)
}

const wrongArguments: readonly string[] = [
  'commander.missingArgument',
  'commander.optionMissingArgument',
  'commander.excessArguments',
]
const textArguments: readonly string[] = ['prompt', 'text']

/** What a flag or a command that is not there was probably meant to be, or where it stands what a command takes. */
function suggestion({ code, message }: CommanderError, program: Command, asked: Command, start: string): string {
  const [mistyped = ''] = /'(.*)'/s.exec(message)?.[1]?.split('=') ?? []
  const known = [...asked.options, ...program.options].flatMap(({ long }) => long ?? [])
  const names = program.commands.map((each) => each.name())
  const command = asked === program ? start : `${start} ${asked.name()}`
  const all = `. \`${command} --help\` has them all`
  if (wrongArguments.includes(code)) {
    const end = message.endsWith('.') ? '' : '.'
    return `${end}${quotingHint(code, asked)} \`${command} --help\` says what it takes`
  }
  if (code === 'commander.unknownOption') return nearestHint(mistyped, [...known, '--help'], all)
  return code === 'commander.unknownCommand' ? nearestHint(mistyped, names, all) : ''
}

/** A shell takes a text of several words apart, so that there are more arguments than are taken. */
function quotingHint(code: string, asked: Command): string {
  const last = asked.registeredArguments.at(-1)?.name() ?? ''
  return code === 'commander.excessArguments' && textArguments.includes(last) ? ` Put the ${last} in quotes;` : ''
}
