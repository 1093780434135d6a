import type { ChatTransport as SdkTransport, UIMessage } from 'ai'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type ChatTransport, createChatTransport } from '../../src/react/chat-transport.ts'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import { until } from '../server/harness/local-server.ts'
import { startRelay } from '../server/harness/relay.ts'
import { partsOf } from './chat-reader.ts'
import { stage, textOf } from './chat-stage.ts'

type Weather = UIMessage<{ finish?: string }, { answer: number }, { weather: { input: string; output: number } }>

describe('a chat over the transport', () => {
  it('has a transport, and begins with messages, of the types of the AI SDK', () => {
    expectTypeOf<ChatTransport>().toExtend<SdkTransport<UIMessage>>()
    expectTypeOf<ChatTransport>().toExtend<SdkTransport<Weather>>()
    expectTypeOf<ReturnType<typeof toUIMessages>>().toExtend<UIMessage[]>()
    expect(Object.keys(createChatTransport({ url: 'http://127.0.0.1:1', agent: 'a' }))).toEqual(
      expect.arrayContaining(['sendMessages', 'reconnectToStream']),
    )
  })

  it('streams the answer to a message, and ends with what the thread keeps', async () => {
    const { client, chat: open, cue, end } = await stage()
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hi' })
    cue(
      (ctx) => ctx.think('Let me see. '),
      (ctx) => ctx.say('Hel'),
    )
    await until(() => textOf(chat.lastMessage) === 'Let me see. Hel')
    expect(chat.status).toBe('streaming')
    cue(
      (ctx) => ctx.say('lo'),
      (ctx) => ctx.tool('look', { at: 'it' }, () => ({ seen: 1 })),
      (ctx) => ctx.tool('break', {}, () => Promise.reject(new Error('broken'))).catch(() => {}),
      (ctx) => ctx.show({ type: 'file', mediaType: 'text/plain', name: 'a.txt', url: 'data:,a' }),
      (ctx) => ctx.answer({ done: true }),
    )
    end()
    await sent
    expect(chat.status).toBe('ready')
    const { messages } = await client.snapshot('t')
    const said = toUIMessages(messages)
    expect(said.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(partsOf(chat.lastMessage)).toEqual(partsOf(said[1]))
    expect(said[1]?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'text',
      'tool-look',
      'tool-break',
      'file',
      'data-answer',
    ])
    expect({ id: chat.lastMessage?.id, metadata: chat.lastMessage?.metadata }).toEqual({
      id: said[1]?.id,
      metadata: { task: messages[1]?.task, finish: 'end_turn' },
    })
  })

  it('makes a connection of its own where it is told where the server is, and lets go of it', async () => {
    const { server, cue, end } = await stage()
    const transport = createChatTransport({
      url: server.url,
      token: 'secret',
      agent: 'player',
      thread: (id) => `of-${id}`,
    })
    cue((ctx) => ctx.say('Hello'))
    const message = { id: 'm', role: 'user' as const, parts: [{ type: 'text', text: 'Hi' }] }
    const asked = { chatId: 't', messages: [message], messageId: undefined, abortSignal: undefined }
    const reader = (await transport.sendMessages({ trigger: 'submit-message', ...asked })).getReader()
    const types: string[] = []
    while (types.at(-1) !== 'text-delta') types.push((await reader.read()).value?.type ?? '')
    expect(types).toEqual(['start', 'start-step', 'text-start', 'text-delta'])
    transport.close()
    await expect(reader.read()).rejects.toMatchObject({ code: 'unreachable' })
    end()
  })

  it('sends files and data as parts, and refuses what no person can send', async () => {
    const { client, chat: open, end } = await stage()
    const chat = open()
    end()
    const file = { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url: 'data:,a' } as const
    await chat.sendMessage({ parts: [{ type: 'text', text: 'See' }, file, { type: 'data-place', data: { x: 1 } }] })
    const [asked] = (await client.snapshot('t')).messages
    expect(asked?.parts).toEqual([
      { type: 'text', text: 'See' },
      { type: 'file', mediaType: 'text/plain', name: 'a.txt', url: 'data:,a' },
      { type: 'data', name: 'place', value: { x: 1 } },
    ])
    await chat.sendMessage({ parts: [{ type: 'source-url', sourceId: 's', url: 'http://x' }] })
    expect(chat.error?.message).toContain('source-url')
  })

  it('shows the error of a run that fails, and keeps what it had said', async () => {
    const { client, chat: open, cue } = await stage()
    const chat = open()
    cue(
      (ctx) => ctx.say('Half'),
      () => Promise.reject(new Error('out of luck')),
    )
    await chat.sendMessage({ text: 'Hi' })
    expect(chat).toMatchObject({ status: 'error', error: new Error('out of luck') })
    expect(textOf(chat.lastMessage)).toBe('Half')
    expect(chat.lastMessage?.metadata).toMatchObject({ finish: 'error' })
    expect(partsOf(chat.lastMessage)).toEqual(partsOf(toUIMessages((await client.snapshot('t')).messages)[1]))
  })

  it('gives what is no part of a message to onData, and keeps it nowhere', async () => {
    const { client, chat: open, cue, end } = await stage()
    const { over: transport } = open()
    cue(
      (ctx) => ctx.emit('found', { n: 1 }),
      (ctx) => ctx.progress(0.5, 'half'),
      (ctx) => ctx.usage({ tokens: 3 }),
      (ctx) => ctx.ask({ text: 'Go on?', options: ['yes', 'no'] }),
    )
    end()
    const message = { id: 'm', role: 'user' as const, parts: [{ type: 'text', text: 'Hi' }] }
    const asked = { chatId: 't', messages: [message], messageId: undefined, abortSignal: undefined }
    const chunks = []
    for await (const chunk of await transport.sendMessages({ trigger: 'submit-message', ...asked })) {
      chunks.push(chunk)
      if (chunk.type === 'data-question' && (chunk.data as { text?: string }).text) {
        await client.answer(chunk.id ?? '', 'yes')
      }
    }
    expect(chunks.flatMap((chunk) => ('transient' in chunk ? [[chunk.type, chunk.data]] : []))).toEqual([
      ['data-found', { n: 1 }],
      ['data-progress', { value: 0.5, note: 'half' }],
      ['data-usage', { tokens: 3 }],
      ['data-question', expect.objectContaining({ text: 'Go on?' })],
      ['data-question', expect.objectContaining({ answer: 'yes' })],
    ])
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
  })
})

describe('a message that is sent twice', () => {
  it('is one run, whose answer both get', async () => {
    const { client, chat: open, cue, end } = await stage()
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] } as const
    const chats = [open(), open()]
    const sent = chats.map((chat) => chat.sendMessage({ ...message, parts: [...message.parts] }))
    cue((ctx) => ctx.say('Hello'))
    end()
    await Promise.all(sent)
    expect(chats.map(({ lastMessage }) => textOf(lastMessage))).toEqual(['Hello', 'Hello'])
    expect((await client.list({ thread: 't' })).tasks).toHaveLength(1)
  })

  it('answers with the run that has ended, if it is sent again later', async () => {
    const { client, chat: open, cue, end } = await stage()
    cue((ctx) => ctx.say('Hello'))
    end()
    for (const chat of [open(), open()]) {
      await chat.sendMessage({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] })
      expect(textOf(chat.lastMessage)).toBe('Hello')
    }
    expect((await client.list({ thread: 't' })).tasks).toHaveLength(1)
  })
})

describe('a chat that comes back', () => {
  it('shows all that was said so far, and goes on in the middle of a sentence', async () => {
    const { client, chat: open, cue, end } = await stage()
    const before = open()
    const sent = before.sendMessage({ text: 'Hi' })
    cue((ctx) => ctx.say('Hel'))
    await until(() => textOf(before.lastMessage) === 'Hel')
    const after = open({ messages: toUIMessages(await client.snapshot('t')) })
    expect(after.messages.map(textOf)).toEqual(['Hi', 'Hel'])
    const resumed = after.resumeStream()
    await until(() => after.status === 'streaming')
    expect(after.messages.map(textOf)).toEqual(['Hi', 'Hel'])
    cue((ctx) => ctx.say('lo'))
    end()
    await Promise.all([sent, resumed])
    expect(after.messages.map(textOf)).toEqual(['Hi', 'Hello'])
    expect(partsOf(after.lastMessage)).toEqual(partsOf(before.lastMessage))
    expect(after.lastMessage?.id).toBe(before.lastMessage?.id)
  })

  it('finds nothing to go on with where nothing is live', async () => {
    const { chat: open } = await stage()
    const chat = open()
    expect(await chat.over.reconnectToStream({ chatId: 't' })).toBeNull()
    await chat.resumeStream()
    expect(chat).toMatchObject({ status: 'ready', messages: [] })
  })

  it('shows the prompts that wait, and their answers one after the other', async () => {
    const { client, chat: open, cue, end } = await stage()
    const before = open()
    const sent = [before.sendMessage({ text: 'one' })]
    cue((ctx) => ctx.say('first'))
    await until(() => textOf(before.lastMessage) === 'first')
    sent.push(before.sendMessage({ text: 'two' }))
    await until(async () => (await client.list({ thread: 't' })).tasks.length === 2)
    const after = open({ messages: toUIMessages(await client.snapshot('t')) })
    expect(after.messages.map(textOf)).toEqual(['one', 'first', 'two'])
    const resumed = after.resumeStream()
    await until(() => after.status === 'streaming')
    end()
    cue((ctx) => ctx.say('second'))
    end()
    await Promise.all([...sent, resumed])
    for (const { messages } of [before, after]) {
      expect(messages.map(textOf)).toEqual(['one', 'first', 'two', 'second'])
    }
  })

  it('follows over connections that break', async () => {
    let breakAfter = (_bytes: readonly number[]) => {}
    const through = async (url: string) => {
      const relay = await startRelay(() => url)
      breakAfter = relay.breakAfter
      return relay.url
    }
    const { chat: open, cue, end } = await stage({ through, transport: 'sse', random: () => 0 })
    breakAfter([4000, 900, 1400, 700, 2000, 800, 1000])
    const chat = open()
    const words = Array.from({ length: 40 }, (_, word) => `${word} `)
    cue(...words.map((word) => (ctx: { say(text: string): unknown }) => ctx.say(word)))
    end()
    await chat.sendMessage({ text: 'Count' })
    expect(chat.status).toBe('ready')
    expect(textOf(chat.lastMessage)).toBe(words.join(''))
  })
})
