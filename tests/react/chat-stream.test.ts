import { readUIMessageStream, type UIMessage } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttachItem, Message, SnapshotItem, Task, ThreadEvent } from '../../src/client/index.ts'
import { tellsAll } from '../../src/client/picture.ts'
import type { StoredEvent } from '../../src/core/event.ts'
import { assistantParts, hasOutput, type PartsFold } from '../../src/core/parts.ts'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import type { ChatChunk } from '../../src/react/chat-transport-shapes.ts'
import { type LogClient, runChunks } from '../../src/react/chat-transport-stream.ts'
import { foldParts } from '../unit/core/fold-parts.ts'
import { partsOf } from './chat-reader.ts'

const id = 'bg_1'
const text = fc.string({ minLength: 1, maxLength: 4 })
const call = fc.constantFrom('a', 'b')
const json = fc.constantFrom<unknown>(null, 1, 'x', { y: [2] })

interface Made {
  readonly type: string
  readonly data: object
}

const of = (type: string, data: fc.Arbitrary<object>): fc.Arbitrary<Made> => data.map((made) => ({ type, data: made }))

const emitted: fc.Arbitrary<Made> = fc.oneof(
  { weight: 4, arbitrary: of('text.delta', fc.record({ text })) },
  { weight: 2, arbitrary: of('thinking', fc.record({ text })) },
  { weight: 2, arbitrary: of('tool.call', fc.record({ id: call, name: fc.constant('look'), input: json })) },
  { weight: 2, arbitrary: of('tool.result', fc.record({ id: call, output: json }, { requiredKeys: ['id'] })) },
  { weight: 1, arbitrary: of('tool.result', fc.record({ id: call, error: text })) },
  { weight: 1, arbitrary: of('file', fc.record({ mediaType: fc.constant('image/png'), name: text, url: text })) },
  { weight: 1, arbitrary: of('answer', fc.record({ output: json })) },
  { weight: 1, arbitrary: of('progress', fc.record({ value: fc.constant(0.5) })) },
)

/** `keep` and `dropped` are shares of what came before, because its numbers are not known yet. */
const resumed = of(
  'task.resumed',
  fc.record({ keep: fc.nat(100), dropped: fc.option(fc.nat(100), { nil: undefined }) }),
)

const history = fc.array(fc.oneof({ weight: 8, arbitrary: emitted }, { weight: 1, arbitrary: resumed }), {
  maxLength: 25,
})

/** The log of one run that was accepted as 1, started as 2, and put this out before it ended. */
function logOf(made: readonly Made[]): { events: ThreadEvent[]; message: Message | undefined } {
  const events: StoredEvent[] = []
  const add = (type: string, data: object) =>
    events.push({ seq: events.length + 3, at: 0, type: type as StoredEvent['type'], data: JSON.stringify(data) })
  for (const { type, data } of made) add(type, type === 'task.resumed' ? placed(data as Shares, events.length) : data)
  for (const open of foldParts(events).openCalls) add('tool.result', { id: open, error: 'The task ended' })
  const fold = foldParts(events)
  const message = messageOf(fold, events.length + 3)
  if (message) add('message.created', { message })
  add('task.completed', {})
  return { events: events.map((event) => toEvent(event)), message }
}

interface Shares {
  readonly keep: number
  readonly dropped?: number
}

function placed({ keep, dropped }: Shares, count: number): object {
  const last = 2 + Math.round((keep / 100) * count)
  const first = 3 + Math.round(((dropped ?? 0) / 100) * (last - 3))
  return { attempt: 2, node: 'n', keep: last, ...(dropped !== undefined && last > 2 && { dropped: [[first, first]] }) }
}

function messageOf(fold: PartsFold, seq: number): Message | undefined {
  const parts = assistantParts(fold)
  if (!hasOutput(fold)) return undefined
  return {
    id: `${id}.assistant`,
    thread: 't',
    seq,
    role: 'assistant',
    parts,
    finish: 'end_turn',
    task: id,
    at: 0,
  } as unknown as Message
}

function toEvent({ seq, at, type, data }: StoredEvent): ThreadEvent {
  return { thread: 't', seq, task: id, type, at, epoch: 1, data: JSON.parse(data) } as ThreadEvent
}

const running = { id, thread: 't', seq: 2, type: 'run', status: 'running', attempt: 1, epoch: 1 } as unknown as Task

function snapshotAt(events: readonly ThreadEvent[], head: number): SnapshotItem {
  const before = events.filter(({ seq }) => seq <= head)
  const stored = before.map(({ data, ...rest }) => ({ ...rest, data: JSON.stringify(data) }))
  const messages = before.flatMap((event) => (event.type === 'message.created' ? event.data.message : []))
  const isOver = before.some(({ type }) => type === 'task.completed')
  const parts = assistantParts(foldParts(stored))
  return {
    type: 'snapshot',
    head,
    first: 1,
    messages,
    tasks: [isOver ? { ...running, status: 'completed' } : running],
    live: isOver ? [] : [{ task: id, parts }],
    questions: [],
  } as unknown as SnapshotItem
}

/** Attached as the client is: from a number on, or with a snapshot, and another one wherever an event does not tell all. */
function clientOf(events: readonly ThreadEvent[], head: number): LogClient {
  async function* attach({ after }: { readonly after?: number }): AsyncGenerator<AttachItem> {
    const last = events.at(-1)?.seq ?? 0
    let picture = after === undefined ? head : undefined
    if (picture !== undefined) yield snapshotAt(events, picture)
    for (const event of events.filter(({ seq }) => seq > (after ?? head))) {
      yield event
      if (picture === undefined || tellsAll(event, picture)) continue
      picture = Math.min(last, event.seq + 2)
      yield snapshotAt(events, picture)
    }
  }
  return { thread: () => ({ attach }) } as unknown as LogClient
}

async function readBy(client: LogClient, isFresh: boolean): Promise<UIMessage | undefined> {
  const { signal } = new AbortController()
  const stream = ReadableStream.from<ChatChunk>(runChunks(client, { task: running, isFresh, signal }))
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last
}

describe('the stream of a run', () => {
  it('comes to the message that the thread keeps, read from the start or from any place, over any resumes', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(100), async (made, share) => {
        const { events, message } = logOf(made)
        const cut = 2 + Math.round((share / 100) * events.length)
        const whole = message && partsOf(toUIMessages([message])[0])
        for (const [isFresh, head] of [
          [true, 2],
          [false, cut],
        ] as const) {
          const shown = await readBy(clientOf(events, head), isFresh)
          expect(shown).toMatchObject({ id: `${id}.assistant`, metadata: { task: id, finish: 'end_turn' } })
          if (whole) expect(partsOf(shown)).toEqual(whole)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('takes back what a resume abandons as soon as it does', async () => {
    const { events } = logOf([
      { type: 'text.delta', data: { text: 'Kept. ' } },
      { type: 'text.delta', data: { text: 'Lost' } },
      { type: 'task.resumed', data: { keep: 50 } },
      { type: 'text.delta', data: { text: 'New' } },
    ])
    const { signal } = new AbortController()
    const texts: string[] = []
    const stream = ReadableStream.from<ChatChunk>(
      runChunks(clientOf(events, 2), { task: running, isFresh: true, signal }),
    )
    for await (const { parts } of readUIMessageStream({ stream })) {
      texts.push(parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))
    }
    expect([...new Set(texts)]).toEqual(['', 'Kept. ', 'Kept. Lost', 'Kept. New'])
  })

  it('reads a message that is too large for the log', async () => {
    const { events, message } = logOf([{ type: 'text.delta', data: { text: 'Long' } }])
    const cutOff = events.map((event) =>
      event.type === 'message.created'
        ? { ...event, data: { message: { ...event.data.message, parts: undefined }, partsOmitted: true } }
        : event,
    ) as ThreadEvent[]
    const { thread } = clientOf(cutOff, 2)
    const asked: unknown[] = []
    const messages = (options: unknown) => {
      asked.push(options)
      return Promise.resolve({ messages: [message] })
    }
    const client = { thread: () => ({ ...thread('t'), messages }) } as unknown as LogClient
    expect(partsOf(await readBy(client, true))).toEqual(partsOf(toUIMessages([message as Message])[0]))
    expect(asked).toEqual([{ after: (message?.seq ?? 0) - 1, limit: 1 }])
  })

  it('says so if the log ends before the run does', async () => {
    const client = clientOf([], 2)
    await expect(readBy(client, false)).rejects.toMatchObject({ code: 'unreachable' })
  })
})
