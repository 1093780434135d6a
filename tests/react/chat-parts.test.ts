import { readUIMessageStream } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, Part, ThreadSnapshot } from '../../src/client/index.ts'
import { PartWriter } from '../../src/react/chat-transport-chunks.ts'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import type { ChatChunk } from '../../src/react/chat-transport-shapes.ts'
import { partsOf } from './chat-reader.ts'

const text = fc.string({ minLength: 1, maxLength: 4 })
const json = fc.jsonValue({ maxDepth: 1 })

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text }),
  fc.record(
    { type: fc.constant('tool' as const), id: fc.constantFrom('a', 'b'), name: text, input: json, output: json },
    { requiredKeys: ['type', 'id', 'name', 'input'] },
  ),
  fc.record({ type: fc.constant('tool' as const), id: fc.constant('c'), name: text, input: json, error: text }),
  fc.record(
    { type: fc.constant('file' as const), mediaType: fc.constant('text/plain'), name: text, url: text },
    { requiredKeys: ['type', 'mediaType', 'url'] },
  ),
  fc.record({ type: fc.constant('data' as const), name: fc.constantFrom('answer', 'note'), value: json }),
)

/** How a list of parts becomes the next: most often as an answer grows, sometimes as a resume leaves it. */
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('add' as const), part }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('grow' as const), text }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('settle' as const), output: json }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cut' as const), to: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('drop' as const), at: fc.nat(6) }) },
)

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function changed(parts: readonly Part[], made: Change): readonly Part[] {
  switch (made.does) {
    case 'add':
      return [...parts, made.part]
    case 'cut':
      return parts.slice(0, made.to)
    case 'drop':
      return parts.toSpliced(made.at, 1)
    case 'grow': {
      const last = parts.at(-1)
      return last?.type === 'text' || last?.type === 'reasoning'
        ? [...parts.slice(0, -1), { ...last, text: last.text + made.text }]
        : parts
    }
    case 'settle':
      // A copy of all: what was read again is equal and not the same.
      return structuredClone(parts).map((each) =>
        each.type === 'tool' && each.error === undefined && each.output === undefined
          ? { ...each, output: made.output }
          : each,
      )
  }
}

function asMessage(parts: readonly Part[]): Message {
  return { id: 'bg_1.assistant', role: 'assistant', parts } as Message
}

async function read(chunks: readonly ChatChunk[]): Promise<unknown[]> {
  const stream = ReadableStream.from<ChatChunk>([{ type: 'start-step' }, ...chunks])
  let last: unknown[] = []
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = partsOf(message)
  return last
}

describe('the chunks of a message', () => {
  it('come to the message as the thread keeps it, however its parts came and went', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const writer = new PartWriter()
        const chunks: ChatChunk[] = []
        let parts: readonly Part[] = []
        for (const made of changes) {
          parts = changed(parts, made)
          chunks.push(...writer.write(parts))
        }
        chunks.push(...writer.write(parts, true))
        const [whole] = toUIMessages([asMessage(parts)])
        expect(await read(chunks)).toEqual(chunks.length === 0 ? [] : partsOf(whole))
      }),
      { numRuns: 300 },
    )
  })

  it('say only what is new of a text that grows', () => {
    const writer = new PartWriter()
    writer.write([{ type: 'text', text: 'Hel' }])
    expect(writer.write([{ type: 'text', text: 'Hello' }])).toEqual([{ type: 'text-delta', id: '0', delta: 'lo' }])
    expect(writer.write([{ type: 'text', text: 'Hello' }])).toEqual([])
    expect(
      writer.write([
        { type: 'text', text: 'Hello.' },
        { type: 'reasoning', text: 'Hm' },
      ]),
    ).toEqual([
      { type: 'text-delta', id: '0', delta: '.' },
      { type: 'text-end', id: '0' },
      { type: 'reasoning-start', id: '1' },
      { type: 'reasoning-delta', id: '1', delta: 'Hm' },
    ])
  })

  it('take back what no longer stands, and say again what does', () => {
    const writer = new PartWriter()
    writer.write([
      { type: 'text', text: 'One.' },
      { type: 'tool', id: 'c', name: 'look', input: {} },
    ])
    expect(writer.write([{ type: 'text', text: 'One' }])).toEqual([
      { type: 'reset-step' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'One' },
    ])
  })

  it('name a call that has the id of an ended one by an id of its own', () => {
    const writer = new PartWriter()
    const call = { type: 'tool', id: 'c', name: 'look', input: {} } as const
    writer.write([{ ...call, output: 1 }])
    expect(writer.write([{ ...call, output: 1 }, call])).toEqual([
      { type: 'tool-input-available', toolCallId: 'c#2', toolName: 'look', input: {}, providerExecuted: true },
    ])
  })
})

describe('the first messages of a chat', () => {
  it('are what was said, what is being said, and the prompts that wait in the order of their turn', () => {
    const run = { type: 'run', thread: 't' }
    const snapshot = {
      thread: 't',
      messages: [{ id: 'bg_1.user', role: 'user', parts: [{ type: 'text', text: 'one' }], task: 'bg_1' }],
      tasks: [
        { ...run, id: 'bg_4', status: 'pending', position: 1, input: [{ type: 'text', text: 'three' }] },
        { ...run, id: 'bg_3', status: 'pending', position: 0, input: 'two' },
        { ...run, id: 'bg_2', type: 'agent', status: 'running' },
        { ...run, id: 'bg_1', status: 'running', input: 'one' },
        { ...run, id: 'bg_0', status: 'completed' },
      ],
      live: [
        { task: 'bg_2', parts: [{ type: 'text', text: 'of a child' }] },
        {
          task: 'bg_1',
          parts: [
            { type: 'tool', id: 'c', name: 'look', input: {} },
            { type: 'text', text: 'On' },
          ],
        },
      ],
    } as unknown as ThreadSnapshot
    expect(toUIMessages(snapshot).map(({ id, parts }) => [id, parts.at(-1)])).toEqual([
      ['bg_1.user', { type: 'text', text: 'one', state: 'done' }],
      ['bg_1.assistant', { type: 'text', text: 'On', state: 'streaming' }],
      ['bg_3.user', { type: 'text', text: 'two', state: 'done' }],
      ['bg_4.user', { type: 'text', text: 'three', state: 'done' }],
    ])
  })

  it('leave a call open that is followed by words and has no result yet', () => {
    const parts = [
      { type: 'tool', id: 'c', name: 'look', input: {} },
      { type: 'text', text: 'On' },
    ]
    const task = { type: 'run', thread: 't', id: 'bg_1', status: 'running' }
    const snapshot = { messages: [], tasks: [task], live: [{ task: 'bg_1', parts }] } as unknown as ThreadSnapshot
    expect(toUIMessages(snapshot)[0]?.parts[1]).toMatchObject({ type: 'tool-look', state: 'input-available' })
  })
})
