import type { Command } from 'commander'
import { argumentText } from '../argument-text.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { valueText } from '../live/event-summary.ts'
import { naming } from '../naming.ts'
import { oneLine } from '../show/plain-text.ts'

/** `holdfast answer`: what a task asks is answered. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('answer')
    .summary('answer a question')
    .description('Answers a question that a task asks, so that it goes on. A question is answered once.')
    .argument('<question>', 'the id of the question')
    .argument('<text>', 'the answer, one of its options if it has any; - reads it from stdin')
    .action(act(answer))
  withExamples(command, [['holdfast answer q_1 yes', 'the task that asked goes on']])
}

async function answer(cli: Cli, id: string, given: string): Promise<void> {
  const { show, signal, around, global } = cli
  const text = await argumentText(given, around)
  const client = await cli.client()
  const question = await naming('question', id, client.answer(id, text, { signal }))
  if (global.json) show.json(question)
  else show.line(`${oneLine(question.text)} ${oneLine(valueText(question.answer))}`)
  show.hint(`Follow it: ${cli.start} logs ${question.task} -f`)
}
