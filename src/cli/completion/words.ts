import type { Argument, Command, Option } from 'commander'

export interface FlagWords {
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** What the value is one of; empty if it is anything. */
  readonly values: readonly string[]
}

export interface CommandWords {
  readonly name: string
  readonly summary: string
  readonly flags: readonly FlagWords[]
  /** What its first argument is one of. */
  readonly values: readonly string[]
}

export interface ProgramWords {
  readonly flags: readonly FlagWords[]
  readonly commands: readonly CommandWords[]
}

/** What can be said to the program, read from the program itself. */
export function completionWords(program: Command): ProgramWords {
  const help: FlagWords = { names: ['-h', '--help'], description: 'print help', takesValue: false, values: [] }
  const commands = program.commands.map((command) => ({
    name: command.name(),
    summary: command.summary(),
    flags: command.options.map(flagWords),
    values: valuesOf(command.registeredArguments[0]),
  }))
  return { flags: [...program.options.map(flagWords), help], commands }
}

function flagWords(option: Option): FlagWords {
  const { short, long, description } = option
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    takesValue: option.required || option.optional,
    values: valuesOf(option),
  }
}

function valuesOf(taking: Option | Argument | undefined): readonly string[] {
  return taking?.argChoices ?? []
}
