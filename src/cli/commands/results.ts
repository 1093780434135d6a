import type { Command } from 'commander'
import type { Result } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { tooLarge, valueText } from '../live/event-summary.ts'
import type { Style } from '../show/show.ts'
import { statusWord } from '../show/status-word.ts'
import type { Column } from '../show/table.ts'
import { shownStatus } from '../tasks/task-columns.ts'

/** `holdfast results`: results that nobody has taken. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('results')
    .summary('list results that nobody has taken')
    .description(
      'Lists results of background tasks that nobody has taken. Reading takes nothing.\n\n' +
        'In a pipe: task, status, and the result or the error, tab-separated.',
    )
    .argument('<thread>', 'the thread whose tasks they are')
    .option('--collect', 'take them: they are not listed again')
    .action(act(results))
  withExamples(command, [
    ['holdfast results demo', 'look at them; this takes nothing'],
    ['holdfast results demo --collect --json', 'take them, each once'],
  ])
}

async function results(cli: Cli, thread: string, { collect }: { readonly collect?: true }): Promise<void> {
  const { show, signal, global } = cli
  const client = await cli.client()
  const { results: untaken, running } = await client.results(thread, { signal })
  const ids = untaken.map(({ task }) => task)
  // Somebody else may take them at the same time: only what is ours is shown.
  const taken = collect && ids.length > 0 ? await client.collect(thread, ids, { signal }) : ids
  const shown = untaken.filter(({ task }) => taken.includes(task))
  if (global.json) show.json({ results: shown, running })
  else show.table(columnsOf(show.style), shown)
  const tooLargeOne = shown.find(({ answerOmitted }) => answerOmitted)
  if (tooLargeOne) show.hint(`What is too large to be shown here: ${cli.start} inspect ${tooLargeOne.task}`)
  if (shown.length === 0) show.hint(`No results wait in ${thread}${running > 0 ? `; ${running} still run` : ''}`)
  else if (!collect) show.hint(`Take them: ${cli.start} results ${thread} --collect`)
}

function columnsOf(style: Style): readonly Column<Result>[] {
  return [
    { title: 'TASK', value: ({ task }) => task },
    {
      title: 'STATUS',
      value: ({ status }) => status,
      shown: shownStatus,
      paint: (result) => style[statusWord(result).style],
    },
    {
      title: 'RESULT',
      value: ({ answer, answerOmitted, error }) => {
        if (error) return `${error.code}: ${error.message}`
        return answerOmitted ? tooLarge : valueText(answer)
      },
      shrinks: true,
    },
  ]
}
