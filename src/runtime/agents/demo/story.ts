/*
 * What the demo says. Nothing of it comes from a model, and it says so; what it tells about is what can be watched while it
 * is being told.
 */

export const partNames = ['events', 'steps', 'trees'] as const

export type PartName = (typeof partNames)[number]

/** One thing that a part looks up, and what it has to say about it. */
interface Finding {
  readonly tool: 'search' | 'read_page' | 'read_table'
  readonly input: Readonly<Record<string, unknown>>
  readonly output: unknown
  readonly tookMs: number
  /** What the tool fails with before it works. */
  readonly failsOnceWith?: string
  readonly text: string
}

export interface Part {
  readonly description: string
  readonly thought: string
  readonly findings: readonly Finding[]
  /** What is reported to the run that asked. */
  readonly summary: string
}

export function isPartName(value: unknown): value is PartName {
  return partNames.some((name) => name === value)
}

export function partOf(name: PartName, topic: string): Part {
  return { events, steps, trees }[name](topic)
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

/** What the lead says at its end, made of what its helpers found and of what a person answered. */
export function report(topic: string, audience: string, by: string, summaries: readonly string[]): string {
  const who = by === 'timeout' ? 'nobody answered, so it is for a colleague' : `${by} answered`
  const found = summaries.length > 0 ? summaries.join(' ') : 'None of my helpers came back with anything.'
  const greeting = greetings[audience] ?? `For ${audience}`
  return `${greeting} (${who}), about “${topic}”: ${found} That is all; run me again, and pull the plug this time.`
}

function events(topic: string): Part {
  return {
    description: 'Looks into the log of events',
    thought: 'Whoever watches a run may leave at any word. I want to know where they come back to.',
    summary: 'Every event has a number, so whoever comes back goes on after the last one seen.',
    findings: [
      {
        tool: 'search',
        input: { query: `${topic} Who keeps the events?` },
        output: { hits: ['The log is the truth', 'Cursors, not queues', 'A ring for those who keep up'] },
        tookMs: 1_600,
        text:
          'Each of these words is an event in the log of this thread, and each event has a number, one more than the one ' +
          'before. It was written to disk before you saw it. ',
      },
      {
        tool: 'read_page',
        input: { page: 'Cursors, not queues' },
        output: { words: 412 },
        tookMs: 2_000,
        text:
          'You are a position in that log, nothing more. Reload the page in the middle of this sentence and it goes on from ' +
          'where you were, because your client only says the last number it has seen. ',
      },
      {
        tool: 'read_page',
        input: { page: 'A ring for those who keep up' },
        output: { words: 198 },
        tookMs: 1_800,
        text:
          'A slow reader holds nobody up either: it reads pages from the store until it has caught up with the others, and ' +
          'never misses one. ',
      },
    ],
  }
}

function steps(topic: string): Part {
  return {
    description: 'Looks into steps, and into a tool that fails once',
    thought: 'The archive with the figures is known to be moody. If it fails I try again.',
    summary: 'What a step did is recorded, so a crash repeats nothing that had been finished.',
    findings: [
      {
        tool: 'read_table',
        input: { table: `${topic} Crashes survived.` },
        output: {
          rows: [
            ['kill -9', 'goes on'],
            ['power cut', 'goes on'],
            ['deploy', 'goes on'],
          ],
        },
        tookMs: 1_800,
        failsOnceWith: 'The archive answered 503: come back in a moment',
        text:
          'The second call went through. Both are in the record, the one that failed as well, so after a crash neither of them ' +
          'is made again. ',
      },
      {
        tool: 'search',
        input: { query: 'what happens after kill -9' },
        output: { hits: ['Resume is replay of steps', 'A step is never executed twice'] },
        tookMs: 1_600,
        text:
          'Kill the server now and start it again. My code will run from its top, every step that is recorded will answer from the ' +
          'record in no time, and I shall go on with the next one, with the same words and no gap. ',
      },
      {
        tool: 'read_page',
        input: { page: 'A step is never executed twice' },
        output: { words: 276 },
        tookMs: 2_000,
        text:
          'Even this pause is one: the instant at which I wake up was written down when I lay down, so a restart makes it neither ' +
          'longer nor shorter. ',
      },
    ],
  }
}

function trees(topic: string): Part {
  return {
    description: 'Looks into trees of tasks and their cancellation',
    thought: 'Three of us were spawned by one run. What becomes of us if somebody stops it?',
    summary: 'A tree is cancelled as one, and who is cancelled ends as cancelled, whatever it does after.',
    findings: [
      {
        tool: 'search',
        input: { query: `${topic} Attached and detached children.` },
        output: { hits: ['A child is attached unless spawned detached', 'Intent is a row, not a signal'] },
        tookMs: 1_800,
        text:
          'I am a task with an id and a log of my own events, and the run that spawned me is waiting for the three of us. While it waits ' +
          'it takes up no place that another task could use. ',
      },
      {
        tool: 'read_page',
        input: { page: 'Intent is a row, not a signal' },
        output: { words: 350 },
        tookMs: 2_200,
        text:
          'Cancel the root and all of us stop within a second. The cancel is written down before it is delivered: if the power went at ' +
          'that very moment, we would still end as cancelled at the next start. ',
      },
      {
        tool: 'read_page',
        input: { page: 'What a cancelled task leaves behind' },
        output: { words: 164 },
        tookMs: 1_800,
        text:
          'What we had said by then stays readable, marked as partial, and the question is closed with us. The next prompt in this ' +
          'thread can build on it. ',
      },
    ],
  }
}
