import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { cut, displayWidth, pad } from '../show/display-width.ts'
import { oneLine } from '../show/plain-text.ts'
import { wrap } from '../show/wrap.ts'
import { circumstancesOf } from '../tasks/circumstances.ts'
import { type Fact, taskFacts, taskFields } from '../tasks/task-facts.ts'
import { type Reason, whyNot } from '../tasks/why.ts'

// What it was given may be a megabyte, and whoever gave it knows it. What came of it is why somebody looks.
const givenFacts: readonly string[] = ['description', 'input', 'metadata']

/** `holdfast inspect`: everything about a task, and why it does not move. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('inspect')
    .summary('say everything about a task, and why it does not move')
    .description(
      'Says everything that is known of a task and, if it has not ended, in words what holds it up: what it is queued behind, the ' +
        'question it waits for, an agent that no node has or that executes as much as it may, a cancel that is under way, a server that starts nothing; ' +
        'or that nothing which the server knows of does.\n\n' +
        'In a pipe it is one field of the task per line, its name on the wire and its whole value with a tab between, objects as JSON ' +
        'and instants as ISO 8601; each reason is a line named why, and what to run about it one named command after it.',
    )
    .argument('<id>', 'the task')
    .action(act(inspect))
  withExamples(command, [
    ['holdfast inspect bg_3', 'what it is, and what it waits for'],
    ["holdfast inspect bg_3 --json | jq -r '.why[].text'", 'only why it does not move'],
  ])
}

async function inspect(cli: Cli, id: string): Promise<void> {
  const { around, global, show, signal } = cli
  const client = await cli.client()
  const circumstances = await circumstancesOf(client, id, around.clock.now, signal)
  const { task, questions, children, events } = circumstances
  const why = whyNot(circumstances, cli.start)
  if (global.json) {
    const open = questions.filter((question) => question.task === task.id)
    const lastEvent = events.at(-1)
    return show.json({ task, why, questions: open, children, ...(lastEvent && { lastEvent }) })
  }
  if (!around.isTty.out) {
    const fields = [...taskFields(task), ...why.flatMap(reasonFields)]
    for (const [name, value] of fields) show.line(`${name}\t${oneLine(value)}`)
    return
  }
  draw(cli, taskFacts(circumstances))
  explain(cli, why)
}

function reasonFields({ text, command }: Reason): readonly Fact[] {
  return command === undefined
    ? [['why', text]]
    : [
        ['why', text],
        ['command', command],
      ]
}

function draw({ around, show }: Cli, fields: readonly (readonly [string, string])[]): void {
  const wide = Math.max(...fields.map(([name]) => displayWidth(name)))
  const left = around.columns() - wide - 2
  for (const [name, value] of fields) {
    const text = oneLine(value)
    const rows = givenFacts.includes(name) ? [cut(text, left)] : wrap(text, left)
    show.line(`${show.style.dim(pad(name, wide))}  ${rows.join(`\n${' '.repeat(wide + 2)}`)}`)
  }
}

const reasonIndent = ' '.repeat(4)

function explain({ around, show }: Cli, why: readonly Reason[]): void {
  if (why.length === 0) return
  const isHeldUp = why.some(({ code }) => code !== 'work')
  show.line(`\n${show.style.bold(isHeldUp ? 'Why it does not move:' : 'Whether it moves:')}`)
  for (const { text, command } of why) {
    const rows = wrap(oneLine(text), around.columns() - reasonIndent.length)
    show.line(`  ${show.style.yellow('•')} ${rows.join(`\n${reasonIndent}`)}`)
    if (command !== undefined) show.line(`${reasonIndent}${show.style.dim(`→ ${oneLine(command)}`)}`)
  }
}
