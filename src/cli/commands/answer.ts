import type { Command } from 'commander'
import { HoldfastError, isHoldfastError } from '../../client/index.ts'
import { argumentJson, argumentText } from '../argument-text.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { valueText } from '../live/event-summary.ts'
import { naming } from '../naming.ts'
import { oneLine } from '../show/plain-text.ts'
import { wrong } from '../wrong.ts'

interface Flags {
  readonly input?: string
}

/** `holdfast answer`: what a task asks is answered. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('answer')
    .summary('answer a question')
    .description('Answers a question that a task asks, so that it goes on. A question is answered once.')
    .argument('<question>', 'the id of the question')
    .argument('[text]', 'the answer, one of its options if it has any; - reads it from stdin')
    .option('--input <json>', 'instead of a text: JSON, or @FILE that holds it, or @- for stdin')
    .action(act(answer))
  withExamples(command, [
    ['holdfast answer q_1 yes', 'the task that asked goes on'],
    ['holdfast answer q_1 --input \'{"amount": 12}\'', 'with an answer that is no text'],
  ])
}

async function answer(cli: Cli, id: string, text: string | undefined, { input }: Flags): Promise<void> {
  const { show, signal, global } = cli
  const given = await answerOf(cli, text, input)
  const client = await cli.client()
  const question = await naming('question', id, client.answer(id, given, { signal })).catch((error: unknown) => {
    throw withFirst(error)
  })
  if (global.json) show.json(question)
  else show.line(`${oneLine(question.text)} ${oneLine(valueText(question.answer))}`)
  show.hint(`Follow it: ${cli.start} logs ${question.task} -f`)
}

async function answerOf(cli: Cli, text: string | undefined, input: string | undefined): Promise<unknown> {
  if ((text === undefined) === (input === undefined))
    throw wrong('Give the answer as a text or by --input, one of them')
  return text === undefined ? argumentJson(input ?? '', cli) : argumentText(text, 'answer', cli)
}

/** Whoever comes late wants to know what the answer was. */
function withFirst(error: unknown): unknown {
  if (!isHoldfastError(error, 'already_answered') || error.facts['answer'] === undefined) return error
  const { code, facts, message } = error
  return new HoldfastError(code, `${message}: ${valueText(facts['answer'])}`, { facts, cause: error })
}
