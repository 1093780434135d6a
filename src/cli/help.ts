import type { Command } from 'commander'

/** A command line, and what it is good for. */
export type Example = readonly [command: string, purpose: string]

/** Ends the help of a command with lines that can be copied. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  const wide = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, purpose]) => `  $ ${line.padEnd(wide)}   # ${purpose}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}
