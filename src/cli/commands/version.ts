import type { Command } from 'commander'
import type { Act } from '../command.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import { packageVersion } from '../version.ts'

/** `holdfast version`: what this is, without asking anybody. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('version')
    .summary('print the version')
    .description('Prints the version of this program and of the Node that runs it. No server is asked.')
    .action(
      act(async ({ global, show }) => {
        const [version, node] = [packageVersion(), process.versions.node]
        if (global.json) show.json({ version, node })
        else show.line(`holdfast ${version} (Node ${node})`)
        return exitCodes.ok
      }),
    )
  withExamples(command, [
    ['holdfast version', 'for people'],
    ['holdfast version --json', 'for programs'],
  ])
}
