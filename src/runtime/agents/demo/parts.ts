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

/** What one helper looks into, and says. Its first look is for the topic. */
export interface Part {
  readonly description: string
  readonly thought: string
  readonly findings: readonly [Finding, ...Finding[]]
  /** What is reported to the run that asked. */
  readonly summary: string
}

export const events: Part = {
  description: 'Looks into the log of events',
  thought: 'Whoever watches a run may leave at any word. I want to know where they come back to.',
  summary: 'Every event has a number, so whoever comes back goes on after the last one seen.',
  findings: [
    {
      tool: 'search',
      input: { query: 'Who keeps the events?' },
      output: { hits: ['The log is the truth', 'Cursors, not queues', 'A ring for those who keep up'] },
      tookMs: 3_200,
      text:
        'Each of these words is an event in the log of this thread, and each event has a number, one more than the one ' +
        'before. It was written to disk before you saw it. ',
    },
    {
      tool: 'read_page',
      input: { page: 'Cursors, not queues' },
      output: { words: 412 },
      tookMs: 4_000,
      text:
        'You are a position in that log, nothing more. Reload the page in the middle of this sentence and it goes on from ' +
        'where you were, because your client only says the last number it has seen. ',
    },
    {
      tool: 'read_page',
      input: { page: 'A ring for those who keep up' },
      output: { words: 198 },
      tookMs: 3_600,
      text:
        'A slow reader holds nobody up either: it reads pages from the store until it has caught up with the others, and ' +
        'never misses one. ',
    },
    {
      tool: 'read_page',
      input: { page: 'Two windows, one run' },
      output: { words: 233 },
      tookMs: 3_600,
      text:
        'Open this thread in a second window, or attach to it from a terminal. Both show the same words, because both ' +
        'read the same log. Neither has to know of the other, and to close one of them cancels nothing. ',
    },
    {
      tool: 'read_table',
      input: { table: 'What is an event?' },
      output: {
        rows: [
          ['text.delta', 'a few words'],
          ['tool.call', 'a tool begins'],
          ['question.asked', 'somebody is asked'],
        ],
      },
      tookMs: 4_000,
      text:
        'Not only words are events. That I called a tool, what it answered, how far I have come, that somebody was asked ' +
        'and what they said: all of it is numbered in one order, so whoever reads it knows what came before what. ',
    },
    {
      tool: 'search',
      input: { query: 'what happens while nobody watches' },
      output: { hits: ['Nothing else than otherwise', 'A snapshot, and what comes after it'] },
      tookMs: 3_200,
      text:
        'While nobody watches, nothing changes. I go on at the same pace, into the same log, and whoever comes tomorrow ' +
        'reads all of it from number one, or takes the picture as it is by then and goes on from there. ',
    },
    {
      tool: 'read_page',
      input: { page: 'The last event of a task' },
      output: { words: 151 },
      tookMs: 3_600,
      text:
        'And when I am done, the log says so. The last event of a task is its end, there is exactly one of them, and ' +
        'nothing of mine comes after it. So nobody needs a timer to find out whether they may stop listening. ',
    },
  ],
}

export const steps: Part = {
  description: 'Looks into steps, and into a tool that fails once',
  thought: 'The archive with the figures is known to be moody. If it fails I try again.',
  summary: 'What a step did is recorded, so a crash repeats nothing that had been finished.',
  findings: [
    {
      tool: 'read_table',
      input: { table: 'Crashes survived' },
      output: {
        rows: [
          ['kill -9', 'goes on'],
          ['power cut', 'goes on'],
          ['deploy', 'goes on'],
        ],
      },
      tookMs: 3_600,
      failsOnceWith: 'The archive answered 503: come back in a moment',
      text:
        'The second call went through. Both are in the record, the one that failed as well, so after a crash neither of them ' +
        'is made again. ',
    },
    {
      tool: 'search',
      input: { query: 'what happens after kill -9' },
      output: { hits: ['Resume is replay of steps', 'A step is never executed twice'] },
      tookMs: 3_200,
      text:
        'Kill the server now and start it again. My code will run from its top, every step that is recorded will answer from the ' +
        'record in no time, and I shall go on with the next one, with the same words and no gap. ',
    },
    {
      tool: 'read_page',
      input: { page: 'A step is never executed twice' },
      output: { words: 276 },
      tookMs: 4_000,
      text:
        'Even this pause is one: the instant at which I wake up was written down when I lay down, so a restart makes it neither ' +
        'longer nor shorter. ',
    },
    {
      tool: 'search',
      input: { query: 'done, and the power went before it was written down' },
      output: { hits: ['A key that stays the same', 'Ask the other side'] },
      tookMs: 3_600,
      text:
        'A process can die between doing a thing and writing down that it did. Then that one step is taken again, and ' +
        'only that one. It has the same key each time, by which a service outside can tell a second delivery from a ' +
        'second order. ',
    },
    {
      tool: 'read_page',
      input: { page: 'A question outlives its server' },
      output: { words: 208 },
      tookMs: 4_000,
      text:
        'The question that you were asked is a step as well. It is asked once, however often the server is started in the ' +
        'meantime. It waits for half an hour, and the first answer is the one that counts, whoever gives it. ',
    },
    {
      tool: 'read_table',
      input: { table: 'Who goes on with a run?' },
      output: {
        rows: [
          ['one server', 'itself, at its next start'],
          ['several nodes', 'another one, within seconds'],
        ],
      },
      tookMs: 3_600,
      text:
        'Where several nodes share a database, nobody has to start anything again. A node that gives no sign of life ' +
        'loses its runs to the others after a while, and what it may still want to write for them is refused. ',
    },
    {
      tool: 'read_page',
      input: { page: 'When the code has changed' },
      output: { words: 319 },
      tookMs: 3_200,
      text:
        'If my code were another one tomorrow, and no longer took the steps that are recorded, I would not guess. The ' +
        'task would fail, and its error would name the step at which the record and the code part company. ',
    },
  ],
}

export const trees: Part = {
  description: 'Looks into trees of tasks and their cancellation',
  thought: 'Three of us were spawned by one run. What becomes of us if somebody stops it?',
  summary: 'A tree is cancelled as one, and who is cancelled ends as cancelled, whatever it does after.',
  findings: [
    {
      tool: 'search',
      input: { query: 'Attached and detached children' },
      output: { hits: ['A child is attached unless spawned detached', 'Intent is a row, not a signal'] },
      tookMs: 3_600,
      text:
        'I am a task with an id and a log of my own events, and the run that spawned me is waiting for the three of us. While it waits ' +
        'it takes up no place that another task could use. ',
    },
    {
      tool: 'read_page',
      input: { page: 'Intent is a row, not a signal' },
      output: { words: 350 },
      tookMs: 4_400,
      text:
        'Cancel the root and all of us stop within a second. The cancel is written down before it is delivered: if the power went at ' +
        'that very moment, we would still end as cancelled at the next start. ',
    },
    {
      tool: 'read_page',
      input: { page: 'What a cancelled task leaves behind' },
      output: { words: 164 },
      tookMs: 3_600,
      text:
        'What we had said by then stays readable, marked as partial, and the question is closed with us. The next prompt in this ' +
        'thread can build on it. ',
    },
    {
      tool: 'search',
      input: { query: 'helpers of helpers' },
      output: { hits: ['A tree has a root, and a depth', 'Time in the queue, time at work'] },
      tookMs: 3_200,
      text:
        'Each of us could have helpers of its own, and they theirs, down to a limit. The list of tasks shows the root, ' +
        'and the rest when you unfold it; the timeline shows when each of us waited, and when it worked. ',
    },
    {
      tool: 'read_page',
      input: { page: 'A word in mid-run' },
      output: { words: 187 },
      tookMs: 4_000,
      text:
        'Nobody has to stop a run to be heard by it. Write something while it is at work: it is kept until the run reads ' +
        'it, enters the conversation at that point, and is in the log like all the rest. Try it now. ',
    },
    {
      tool: 'read_table',
      input: { table: 'Who ends with whom?' },
      output: {
        rows: [
          ['attached', 'ends with its parent'],
          ['detached', 'goes on alone'],
        ],
      },
      tookMs: 4_400,
      text:
        'A child that is spawned detached outlives its parent, and its result waits until somebody takes it. The three of ' +
        'us are attached: none of us is left behind at work when the run is over, however it ends. ',
    },
    {
      tool: 'read_page',
      input: { page: 'One of three is missing' },
      output: { words: 142 },
      tookMs: 3_600,
      text:
        'Cancel only me and the others go on. The run is told that I was cancelled, as it would be told that I failed, ' +
        'and reports without me: what the end of a child means is for its parent to decide, and for nobody else. ',
    },
  ],
}
