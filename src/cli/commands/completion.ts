import { Argument, type Command } from 'commander'
import type { Act } from '../command.ts'
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/scripts.ts'
import { completionWords } from '../completion/words.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** `holdfast completion`: a script that lets a shell complete commands and flags. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('completion')
    .summary('print a script that completes commands and flags')
    .description(
      'Prints a script for a shell that completes commands, flags, and the values of flags that take one of a few words.',
    )
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(shells)))
    .action(
      act(async ({ show }, shell: keyof typeof shells) => {
        show.line(shells[shell](completionWords(program)))
        return exitCodes.ok
      }),
    )
  withExamples(command, [
    ['source <(holdfast completion bash)', 'in ~/.bashrc'],
    ['source <(holdfast completion zsh)', 'in ~/.zshrc, after compinit'],
    ['holdfast completion fish | source', 'in config.fish'],
  ])
}
