import { type Command, Option } from 'commander'
import {
  type Accepted,
  type Client,
  HoldfastError,
  isHoldfastError,
  type OnBusy,
  type OnResult,
} from '../../client/index.ts'
import { argumentJson, argumentText } from '../argument-text.ts'
import type { Act, Cli } from '../command.ts'
import { exitCodes } from '../exit-code.ts'
import { wholeNumberFlag } from '../flag-value.ts'
import { withExamples } from '../help.ts'
import type { RunShows } from '../live/run-printer.ts'
import { nearestHint } from '../nearest.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly thread?: string
  readonly input?: string
  readonly wait?: true
  readonly follow?: true
  readonly detach?: true
  readonly onBusy?: OnBusy
  readonly onResult?: OnResult
  readonly background?: true
  readonly name?: string
  readonly description?: string
  readonly timeoutMs?: number
}

type Mode = 'wait' | 'follow' | 'detach'
type Work = { readonly prompt: string } | { readonly input: unknown }

/** `holdfast run`: asks an agent. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('run')
    .summary('ask an agent')
    .description(
      'Asks an agent, in a thread of its own unless one is named. On a terminal the run is followed: what it says goes to stdout. ' +
        'Elsewhere its id is printed, and it goes on alone. Ctrl-C only detaches; the run goes on.\n\n' +
        'With --follow and --wait the exit code mirrors the outcome: 3 failed, 8 cancelled, 124 out of time.',
    )
    .argument('<agent>', 'the name of the agent')
    .argument('[prompt]', 'what to ask; - reads it from stdin')
    .option('--thread <thread>', 'the conversation it belongs to (default: a new one)')
    .option('--input <json>', 'instead of a prompt: JSON, or @FILE that holds it, or @- for stdin')
    .addOption(new Option('--follow', 'print what it says, as it says it').conflicts(['wait', 'detach']))
    .addOption(new Option('--wait', 'print its result when it has ended').conflicts('detach'))
    .option('--detach', 'print its id and leave')
    .addOption(
      new Option('--on-busy <what>', 'if a run is live in the thread (default: queue)').choices([
        'queue',
        'steer',
        'interrupt',
        'reject',
      ]),
    )
    .addOption(
      new Option(
        '--on-result <what>',
        'when a task it left behind ends: keep the result, or run again with it (default: collect)',
      ).choices(['collect', 'wake']),
    )
    .addOption(new Option('--background', 'a task beside the queue of the thread').conflicts(['onBusy', 'onResult']))
    .option('--name <name>', 'with --background: a name for the task, its own in the thread')
    .option('--description <text>', 'one line for lists (default: the first line of the prompt)')
    .option('--timeout-ms <number>', 'fail the task after so many milliseconds of running', wholeNumberFlag(1))
    .action(act(run))
  withExamples(command, [
    ['holdfast run helper "What is new?"', 'ask, and read the answer as it comes'],
    ['git diff | holdfast run helper - --wait', 'ask with what another program prints'],
    ['holdfast run script --input \'{"script":[{"say":"hi"}]}\' --detach', 'start, print the id, leave'],
    ['holdfast run helper "And tests?" --thread demo --on-busy steer', 'tell the run that is live'],
  ])
}

async function run(cli: Cli, agent: string, prompt: string | undefined, flags: Flags): Promise<number> {
  const { show, signal, global } = cli
  const mode = modeOf(cli, flags)
  const work = await workOf(cli, prompt, flags)
  const client = await cli.client({ isPatient: mode !== 'detach' })
  const accepted = await accept(client, agent, work, flags, signal).catch(async (error: unknown) => {
    throw await nearestNamed(error, client, agent, signal)
  })
  if (accepted.steered !== undefined) show.notice(`${accepted.id} is live in ${accepted.thread} and is told`)
  if (mode === 'detach') {
    if (global.json) show.json(accepted)
    else show.line(accepted.id)
    show.hint(`Follow it: ${cli.start} logs ${accepted.id} -f`)
    return exitCodes.ok
  }
  show.hint(`${accepted.id} in thread ${accepted.thread}; Ctrl-C detaches`)
  const { followRun } = await import('../live/follow-run.ts')
  return followRun(cli, client, accepted, showsOf(mode, global.json))
}

function modeOf({ around, global }: Cli, { wait, follow, detach }: Flags): Mode {
  if (wait) return 'wait'
  if (follow) return 'follow'
  return detach || !around.isTty.out || global.json ? 'detach' : 'follow'
}

function showsOf(mode: Mode, isJson: boolean): RunShows {
  if (mode === 'wait') return 'result'
  return isJson ? 'json' : 'text'
}

async function workOf(cli: Cli, prompt: string | undefined, { input }: Flags): Promise<Work> {
  if (prompt !== undefined && input !== undefined) throw wrong('Give a prompt or --input, not both')
  if (input !== undefined) return { input: await argumentJson(input, cli) }
  if (prompt !== undefined) return { prompt: await argumentText(prompt, 'prompt', cli) }
  throw wrong('Say what to ask: a prompt, - to read it from stdin, or --input JSON')
}

function accept(client: Client, agent: string, work: Work, flags: Flags, signal: AbortSignal): Promise<Accepted> {
  const { thread = newThread(), background, name, onBusy, onResult, description, timeoutMs } = flags
  // Mostly a variable that nobody has set.
  if (thread === '') throw wrong('--thread is empty')
  if (name !== undefined && !background) throw wrong('--name is for a task of its own: add --background')
  const asked = {
    ...(work as { readonly prompt: string }),
    agent,
    signal,
    ...(description !== undefined && { description }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
  if (background) return client.spawn(thread, { ...asked, ...(name !== undefined && { name }) })
  return client.run(thread, { ...asked, ...(onBusy && { onBusy }), ...(onResult && { onResult }) })
}

/** What went wrong; of an agent that is not there, with the one that was probably meant. */
async function nearestNamed(error: unknown, client: Client, agent: string, signal: AbortSignal): Promise<unknown> {
  if (!isHoldfastError(error, 'unknown_agent')) return error
  const agents = await client.agents({ signal }).catch(() => [])
  const names = agents.map(({ name }) => name)
  const { code, facts, message } = error
  return new HoldfastError(code, `${message}${nearestHint(agent, names)}`, { facts, cause: error })
}

function newThread(): string {
  return `cli-${crypto.randomUUID().slice(0, 8)}`
}
