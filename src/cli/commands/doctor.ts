import type { Command } from 'commander'
import type { Act, Cli, GlobalFlags } from '../command.ts'
import type { Check } from '../doctor/check.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import type { StoreFlags } from '../settings/local-store.ts'
import { storeFlag } from '../settings/store-url.ts'
import { oneLine } from '../show/plain-text.ts'
import type { Show, StyleName } from '../show/show.ts'

const shown: Readonly<Record<Check['status'], { readonly glyph: string; readonly style: StyleName }>> = {
  ok: { glyph: '✔', style: 'green' },
  note: { glyph: '!', style: 'yellow' },
  wrong: { glyph: '✘', style: 'red' },
}

const wordColumns = 5
const nameColumns = 15

/** `holdfast doctor`: what is wrong here, and what to do about it. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('doctor')
    .summary('say what is wrong, and what to do')
    .description(
      'Looks at Node, the settings, the state folder, the token, the store, the disk, the clock and the server, and says of each in one ' +
        'line how it is: ok, note (worth knowing) or wrong. It changes nothing, tells no secret, and may run beside a server. It ends ' +
        'with 1 if something is wrong.\n\nIn a pipe: status, check, finding and advice, tab-separated.',
    )
    .option('--store <url>', 'the store, as of serve (default: that of a server started here)', storeFlag)
    .option('--config <file>', 'the config file, as of serve')
    .action(act(doctor))
  withExamples(command, [
    ['holdfast doctor', 'of what a server started here would use'],
    ['holdfast doctor --store sqlite:./copy.db', 'of a copy, before it is needed'],
    ['holdfast doctor --json', 'one document, for programs'],
  ])
}

async function doctor(cli: Cli, flags: StoreFlags, command: Command): Promise<number> {
  const { around, global, show, signal } = cli
  const { url, token } = command.optsWithGlobals<GlobalFlags>()
  const { examine } = await import('../doctor/examine.ts')
  const asked = { ...(url !== undefined && { url }), ...(token !== undefined && { token }) }
  const checks = await examine({ ...flags, ...asked }, around, signal)
  const wrongCount = checks.filter(({ status }) => status === 'wrong').length
  if (global.json) show.json({ isFine: wrongCount === 0, checks })
  else for (const check of checks) show.line(around.isTty.out ? lineOf(check, show) : tabbed(check))
  if (wrongCount === 0) show.hint('Nothing is wrong.')
  else show.hint(wrongCount === 1 ? 'One thing is wrong.' : `${wrongCount} things are wrong.`)
  return wrongCount === 0 ? exitCodes.ok : exitCodes.error
}

function lineOf({ status, name, finding, advice }: Check, { style }: Show): string {
  const { glyph, style: colour } = shown[status]
  const word = style[colour](`${glyph} ${status.padEnd(wordColumns)}`)
  return `${word} ${name.padEnd(nameColumns)} ${sentences(finding, advice)}`
}

/** A path or a message of SQLite may hold anything; a line stays one. */
function sentences(finding: string, advice: string | undefined): string {
  const text = oneLine(finding)
  return advice === undefined ? text : `${text}. ${oneLine(advice)}.`
}

function tabbed({ status, name, finding, advice = '' }: Check): string {
  return [status, name, oneLine(finding), oneLine(advice)].join('\t')
}
