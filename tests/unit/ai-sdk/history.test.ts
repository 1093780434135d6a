import { jsonSchema, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { modelHistory } from '../../../src/ai-sdk/history.ts'
import { type TaskId, taskId, threadId } from '../../../src/core/id.ts'
import type { Message, Part } from '../../../src/core/message.ts'

let seq = 0

function message(role: Message['role'], parts: readonly Part[], about: Partial<Message> = {}): Message {
  seq += 3
  return { id: `m${seq}`, thread: threadId('t'), seq, role, parts, at: 0, ...about }
}

function task(number: number): TaskId {
  return taskId(`bg_${number}`)
}

const text = (said: string): Part => ({ type: 'text', text: said })
const call = (id: string, about: Partial<Extract<Part, { type: 'tool' }>>): Part => ({
  type: 'tool',
  id,
  name: 'look',
  input: { at: id },
  ...about,
})

describe('the history that a model is given', () => {
  it('has each call with its result, and what is said after calls as a step of its own', async () => {
    const parts = [
      { type: 'reasoning', text: 'hm' } as const,
      text('one'),
      call('bg_0:look', { output: 'seen' }),
      call('bg_0:look#2', { error: 'The task ended as cancelled before the tool did' }),
      text('two'),
      call('bg_0:look#3', { output: { a: 1 } }),
      call('bg_0:look#4', {}),
    ]
    const history = await modelHistory([message('user', [text('hi')]), message('assistant', parts)])
    expect(history).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'one' },
          { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: { at: 'bg_0:look' } },
          { type: 'tool-call', toolCallId: 'call_2', toolName: 'look', input: { at: 'bg_0:look#2' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: 'look', output: { type: 'text', value: 'seen' } },
          {
            type: 'tool-result',
            toolCallId: 'call_2',
            toolName: 'look',
            output: { type: 'error-text', value: 'The task ended as cancelled before the tool did' },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'two' },
          { type: 'tool-call', toolCallId: 'call_3', toolName: 'look', input: { at: 'bg_0:look#3' } },
          { type: 'tool-call', toolCallId: 'call_4', toolName: 'look', input: { at: 'bg_0:look#4' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_3', toolName: 'look', output: { type: 'json', value: { a: 1 } } },
          { type: 'tool-result', toolCallId: 'call_4', toolName: 'look', output: { type: 'json', value: null } },
        ],
      },
    ])
  })

  it('has files, data and what the runtime says', async () => {
    const image = { type: 'file', mediaType: 'image/png', name: 'a.png', url: 'https://example.org/a.png' } as const
    const history = await modelHistory([
      message('user', [text('look'), image, { type: 'file', mediaType: 'text/plain', url: 'nowhere' }]),
      message('assistant', [image, { type: 'data', name: 'answer', value: { n: 1 } }]),
      message('system', [{ type: 'data', name: 'results', value: [{ task: 'bg_1' }] }]),
    ])
    const file = { type: 'file', mediaType: 'image/png', data: new URL(image.url), filename: 'a.png' }
    expect(history).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'look' }, file, { type: 'text', text: 'nowhere' }] },
      { role: 'assistant', content: [file, { type: 'text', text: '{"n":1}' }] },
      { role: 'user', content: [{ type: 'text', text: '[{"task":"bg_1"}]' }] },
    ])
  })

  it('shows a result as the tool itself would show it', async () => {
    const look = tool({
      inputSchema: jsonSchema<object>({ type: 'object' }),
      execute: () => 'seen',
      toModelOutput: ({ output }) => ({ type: 'text', value: `shown: ${output}` }),
    })
    const history = await modelHistory([message('assistant', [call('c', { output: 'seen' })])], { look })
    expect(history[1]?.content).toMatchObject([{ output: { type: 'text', value: 'shown: seen' } }])
  })

  it('has nothing that providers refuse: text without a character, names that no tool may have, addresses of no file', async () => {
    const look = tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: () => 'seen' })
    const history = await modelHistory(
      [
        message('user', [text('')]),
        message('user', [text(' \n'), text('go')]),
        message('assistant', [
          text('\n'),
          call('a', { name: 'look', output: 1 }),
          call('b', { name: 'Suche im Netz/für.alle', output: 2 }),
          call('c', { name: '', output: 3 }),
          call('d', { name: 'x'.repeat(100), output: 4 }),
          text(' '),
        ]),
        message('user', [{ type: 'file', mediaType: 'text/plain', url: 'javascript:alert(1)' }]),
        message('assistant', [text('  '), { type: 'file', mediaType: 'text/plain', url: 'file:///etc/passwd' }]),
      ],
      { look },
    )
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(history[0]?.content).toEqual([{ type: 'text', text: 'go' }])
    for (const { content } of history.slice(1, 3)) {
      const names = (content as { toolName: string }[]).map(({ toolName }) => toolName)
      expect(names).toEqual(['look', 'Suche_im_Netz_f_r_alle', 'tool', 'x'.repeat(64)])
    }
    expect(history[3]?.content).toEqual([{ type: 'text', text: 'javascript:alert(1)' }])
  })

  it('leaves out a turn that was cancelled before it started, and no other', async () => {
    const cancelled = { finish: 'cancelled' } as const
    const history = await modelHistory([
      message('user', [text('started')], { task: task(1), seq: 10 }),
      message('assistant', [], { task: task(1), seq: 12, ...cancelled }),
      message('user', [text('unstarted')], { task: task(2), seq: 20 }),
      message('assistant', [], { task: task(2), seq: 21, ...cancelled }),
      message('user', [text('partial')], { task: task(3), seq: 30 }),
      message('assistant', [text('so far')], { task: task(3), seq: 31, ...cancelled }),
    ])
    const said = history.map(({ content }) => (content as { text: string }[])[0]?.text)
    expect(said).toEqual(['started', 'partial', 'so far'])
  })
})
