import { describe, expect, it } from 'vitest'
import { withStop } from '../../src/react/chat-transport.ts'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import { until } from '../server/harness/local-server.ts'
import { partsOf } from './chat-reader.ts'
import { stage, textOf } from './chat-stage.ts'

describe('leaving and stopping', () => {
  it('leaves the run alone when useChat aborts, as it does when a component goes away', async () => {
    const { client, chat: open, cue, end } = await stage()
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hi' })
    cue((ctx) => ctx.say('Hel'))
    await until(() => textOf(chat.lastMessage) === 'Hel')
    await chat.stop()
    await sent
    expect(chat.status).toBe('ready')
    const [run] = (await client.list({ thread: 't' })).tasks
    expect(run).toMatchObject({ status: 'running' })
    expect(run).not.toHaveProperty('cancelRequestedAt')
    cue((ctx) => ctx.say('lo'))
    end()
    expect(await client.wait(run?.id ?? '')).toMatchObject({ status: 'completed' })
  })

  it('accepts a message that was on its way when the page went', async () => {
    const { client, chat: open, cue, end } = await stage()
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hi' })
    await until(() => chat.status === 'submitted')
    await chat.stop()
    await sent
    cue((ctx) => ctx.say('Hello'))
    end()
    await until(async () => (await client.list({ thread: 't' })).tasks[0]?.status === 'completed')
  })

  it('cancels the run on the server when it is stopped, and keeps what was said', async () => {
    const { client, chat: open, cue } = await stage()
    const chat = open()
    const { stop } = withStop(chat, chat.over)
    const sent = chat.sendMessage({ text: 'Hi' })
    cue((ctx) => ctx.say('Hel'))
    await until(() => textOf(chat.lastMessage) === 'Hel')
    await stop()
    await sent
    expect(chat.status).toBe('ready')
    expect(textOf(chat.lastMessage)).toBe('Hel')
    expect(chat.lastMessage?.metadata).toMatchObject({ finish: 'cancelled' })
    const [run] = (await client.list({ thread: 't' })).tasks
    expect(run).toMatchObject({ status: 'cancelled', partial: true })
    const later = open({ messages: toUIMessages(await client.snapshot('t')) })
    expect(partsOf(later.lastMessage)).toEqual(partsOf(chat.lastMessage))
    expect(later.lastMessage?.metadata).toMatchObject({ finish: 'cancelled' })
  })

  it('cancels a run that was not yet accepted when it was stopped', async () => {
    const onItsWay = Promise.withResolvers<undefined>()
    const held = Promise.withResolvers<undefined>()
    const slow: typeof fetch = async (url, init) => {
      if (String(url).endsWith('/runs')) {
        onItsWay.resolve(undefined)
        await held.promise
      }
      return fetch(url, init)
    }
    const { client, chat: open } = await stage({ fetch: slow })
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hi' })
    await onItsWay.promise
    const stopped = chat.over.stop('t')
    // Whatever it would ask for before the message is accepted is answered before this is.
    await client.health()
    held.resolve(undefined)
    await Promise.all([stopped, sent])
    expect((await client.list({ thread: 't' })).tasks.map(({ status }) => status)).toEqual(['cancelled'])
    expect(chat.status).toBe('ready')
  })

  it('lets go of a stream that is cancelled by its reader', async () => {
    const { client, chat: open } = await stage()
    const { over: transport } = open()
    const message = { id: 'm', role: 'user' as const, parts: [{ type: 'text', text: 'Hi' }] }
    const asked = { chatId: 't', messages: [message], messageId: undefined, abortSignal: undefined }
    const reader = (await transport.sendMessages({ trigger: 'submit-message', ...asked })).getReader()
    // Those that begin every answer; the next one waits for the agent.
    await reader.read()
    await reader.read()
    const next = reader.read()
    await until(async () => (await client.snapshot('t')).watchers === 1)
    await reader.cancel()
    expect(await next).toEqual({ done: true, value: undefined })
    await until(async () => (await client.snapshot('t')).watchers === 0)
    expect((await client.list({ thread: 't' })).tasks[0]).toMatchObject({ status: 'running' })
  })
})
