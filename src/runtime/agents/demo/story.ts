import { events, type Part, steps, trees } from './parts.ts'

/*
 * What the demo says. Nothing of it comes from a model, and it says so; what it tells about is what can be watched while it
 * is being told.
 */

export const partNames = ['events', 'steps', 'trees'] as const

export type PartName = (typeof partNames)[number]

export function isPartName(value: unknown): value is PartName {
  return partNames.some((name) => name === value)
}

export function partOf(name: PartName, topic: string): Part {
  const part = { events, steps, trees }[name]
  const [first, ...others] = part.findings
  return { ...part, findings: [{ ...first, input: { topic, ...first.input } }, ...others] }
}

/** What the lead says while its three children are at work. */
export function opening(topic: string): string {
  return (
    `About “${topic}”: this is a simulated research run, in which no model is called and nothing leaves this machine. ` +
    'Three helpers are looking into it side by side, and meanwhile there is a question for you: answer it whenever you like. '
  )
}

export const question = {
  text: 'Who is the report for?',
  options: ['A colleague', 'My manager', 'A child of ten'],
  default: 'A colleague',
} as const

const greetings: Readonly<Record<string, string>> = {
  'A colleague': 'Between colleagues, the short version',
  'My manager': 'In three sentences, for a busy reader',
  'A child of ten': 'As one would tell it to a child of ten',
}

/** What the lead knows at its end. */
interface Known {
  readonly topic: string
  readonly audience: string
  /** Who answered for whom the report is. */
  readonly by: string
  readonly summaries: readonly string[]
  readonly notes: readonly string[]
}

/** What the lead says at its end, made of what its helpers found and of what people answered and wrote. */
export function report({ topic, audience, by, summaries, notes }: Known): string {
  const who = by === 'timeout' ? 'nobody answered, so it is for a colleague' : `${by} answered`
  const found = summaries.length > 0 ? summaries.join(' ') : 'None of my helpers came back with anything.'
  const told = notes.length > 0 ? ` You told me: ${notes.map((note) => `“${note}”`).join(', ')}.` : ''
  const greeting = greetings[audience] ?? `For ${audience}`
  return `${greeting} (${who}), about “${topic}”: ${found}${told} That is all; run me again, and pull the plug this time. `
}
