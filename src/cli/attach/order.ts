import type { Question } from '../../client/index.ts'
import { nearest } from '../nearest.ts'

/** What a typed line asks for. */
export type Order =
  | { readonly do: 'nothing' }
  | { readonly do: 'help' }
  | { readonly do: 'detach' }
  /** `auto`: steers the run that is live, else asks for one. */
  | { readonly do: 'say'; readonly how: 'auto' | 'steer' | 'queue' | 'interrupt'; readonly text: string }
  | { readonly do: 'cancel'; readonly reason?: string }
  /** Without a question, the one that has been open longest. */
  | { readonly do: 'answer'; readonly question?: string; readonly text: string }
  | { readonly do: 'refuse'; readonly message: string }

type OpenQuestion = Pick<Question, 'id' | 'options'>

const says = ['steer', 'queue', 'interrupt'] as const
const names: readonly string[] = [...says, 'cancel', 'answer', 'detach', 'help']

export const orderHelp: readonly string[] = [
  'TEXT               asks the agent; while a run is live, steers it',
  '/steer TEXT        a message to the run that is live',
  '/queue TEXT        a run after those that wait',
  '/interrupt TEXT    cancels the run that is live and asks anew',
  '/cancel [REASON]   cancels the run that is live, with its tree',
  '/answer [ID] TEXT  answers an open question',
  '/detach            leaves; the work goes on (as Ctrl-C does)',
  '//TEXT             says /TEXT',
]

/**
 * Reads a line. `questions` are those that are open, oldest first. The first word of an answer can be the id of one of these only.
 * Whoever types one of their options most likely means to answer, so it is not said to the run but refused, with both ways to go on.
 */
export function orderOf(line: string, questions: readonly OpenQuestion[] = []): Order {
  const text = line.trim()
  if (text === '') return { do: 'nothing' }
  if (text.startsWith('//')) return { do: 'say', how: 'auto', text: text.slice(1) }
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(text) ?? []
  if (!text.startsWith('/')) return optionOf(text, questions) ?? { do: 'say', how: 'auto', text }
  const how = says.find((each) => each === name)
  if (how) return rest === '' ? { do: 'refuse', message: `Say what: /${how} TEXT` } : { do: 'say', how, text: rest }
  switch (name) {
    case 'cancel':
      return { do: 'cancel', ...(rest !== '' && { reason: rest }) }
    case 'answer':
      return answerOf(rest, questions)
    case 'detach':
    case 'quit':
    case 'exit':
      return { do: 'detach' }
    case 'help':
    case '?':
      return { do: 'help' }
    default:
      return { do: 'refuse', message: noSuch(name) }
  }
}

function noSuch(name: string): string {
  const near = nearest(name, names)
  return near === undefined
    ? `There is no /${name}; /help shows all`
    : `There is no /${name}. The nearest is /${near}; /help shows all`
}

function optionOf(text: string, questions: readonly OpenQuestion[]): Order | undefined {
  const asked = questions.find(({ options = [] }) => options.includes(text))
  if (!asked) return undefined
  const answer = asked === questions[0] ? `/answer ${text}` : `/answer ${asked.id} ${text}`
  return {
    do: 'refuse',
    message: `That is an option of an open question: ${answer} answers it, /steer ${text} does not`,
  }
}

function answerOf(rest: string, questions: readonly OpenQuestion[]): Order {
  const [, first = '', others = ''] = /^(\S*)\s*(.*)$/s.exec(rest) ?? []
  if (rest === '') return { do: 'refuse', message: 'Say the answer: /answer TEXT' }
  if (!questions.some(({ id }) => id === first)) return { do: 'answer', text: rest }
  if (others === '') return { do: 'refuse', message: `Say the answer: /answer ${first} TEXT` }
  return { do: 'answer', question: first, text: others }
}
