import { describe, expect, it } from 'vitest'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import { until } from '../server/harness/local-server.ts'
import { type Stage, stage, textOf } from './chat-stage.ts'

/** A chat in which each of these was asked and answered with itself in capitals. */
async function conversation(...asked: string[]) {
  const made = await stage()
  const chat = made.chat()
  for (const text of asked) {
    answer(made, text.toUpperCase())
    await chat.sendMessage({ text })
  }
  return { ...made, chat, open: made.chat }
}

function answer({ cue, end }: Pick<Stage, 'cue' | 'end'>, text: string): void {
  cue((ctx) => ctx.say(text))
  end()
}

async function said({ client }: Pick<Stage, 'client'>): Promise<string[]> {
  return (await client.snapshot('t')).messages.map(textOf)
}

describe('asking again', () => {
  it('asks what was asked last once more, and shows the new answer in the place of the old', async () => {
    const made = await conversation('one', 'two')
    answer(made, 'AGAIN')
    await made.chat.regenerate()
    expect(made.chat.messages.map(textOf)).toEqual(['one', 'ONE', 'two', 'AGAIN'])
    expect(await said(made)).toEqual(['one', 'ONE', 'two', 'TWO', 'two', 'AGAIN'])
    answer(made, 'ONCE MORE')
    await made.chat.regenerate()
    expect(made.chat.messages.map(textOf)).toEqual(['one', 'ONE', 'two', 'ONCE MORE'])
  })

  it('asks again on a page that was loaded later', async () => {
    const made = await conversation('one')
    const later = made.open({ messages: toUIMessages(await made.client.snapshot('t')) })
    answer(made, 'AGAIN')
    await later.regenerate()
    expect(later.messages.map(textOf)).toEqual(['one', 'AGAIN'])
    expect(await said(made)).toEqual(['one', 'ONE', 'one', 'AGAIN'])
  })

  it('goes on with a run that is still live instead of asking twice', async () => {
    const made = await stage()
    const chat = made.chat()
    const sent = chat.sendMessage({ text: 'Hi' })
    made.cue((ctx) => ctx.say('Hel'))
    await until(() => textOf(chat.lastMessage) === 'Hel')
    await chat.stop()
    await sent
    const again = chat.regenerate()
    await until(() => textOf(chat.lastMessage) === 'Hel' && chat.status === 'streaming')
    answer(made, 'lo')
    await again
    expect(chat.messages.map(textOf)).toEqual(['Hi', 'Hello'])
    expect((await made.client.list({ thread: 't' })).tasks).toHaveLength(1)
  })

  it('sends a message that was never accepted', async () => {
    const made = await stage()
    const chat = made.chat()
    await chat.sendMessage({ text: 'Hi' }, { body: { agent: 'nobody' } })
    expect(chat).toMatchObject({ status: 'error', error: { code: 'unknown_agent' } })
    answer(made, 'Hello')
    await chat.regenerate()
    expect(chat.messages.map(textOf)).toEqual(['Hi', 'Hello'])
    expect((await made.client.list({ thread: 't' })).tasks).toHaveLength(1)
  })

  it('is refused for an earlier message, because what was said since stays said', async () => {
    const made = await conversation('one', 'two')
    await made.chat.regenerate({ messageId: made.chat.messages[1]?.id ?? '' })
    expect(made.chat).toMatchObject({ status: 'error', error: { code: 'invalid_request' } })
    expect(await said(made)).toEqual(['one', 'ONE', 'two', 'TWO'])
    const later = made.open({ messages: toUIMessages(await made.client.snapshot('t')) })
    await later.regenerate({ messageId: later.messages[1]?.id ?? '' })
    expect(later.error).toMatchObject({ code: 'invalid_request' })
  })
})

describe('changing what was said', () => {
  it('is refused for a message of this page, and for one of before', async () => {
    const made = await conversation('one')
    const later = made.open({ messages: toUIMessages(await made.client.snapshot('t')) })
    for (const chat of [made.chat, later]) {
      await chat.sendMessage({ text: 'changed', messageId: chat.messages[0]?.id ?? '' })
      expect(chat).toMatchObject({ status: 'error', error: { code: 'invalid_request' } })
      expect(chat.error?.message).toContain('stays said')
    }
    expect(await said(made)).toEqual(['one', 'ONE'])
  })

  it('is refused for an answer: a tool is not run by the page', async () => {
    const made = await conversation('one')
    await made.chat.sendMessage()
    expect(made.chat.error?.message).toContain('Tools run on the server')
  })

  it('is not what a first message does that a page begins with', async () => {
    const made = await stage()
    const chat = made.chat({ messages: [{ id: 'first', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] })
    answer(made, 'Hello')
    await chat.sendMessage()
    expect(chat.messages.map(textOf)).toEqual(['Hi', 'Hello'])
  })
})

describe('a message to a busy thread', () => {
  async function busy(
    onBusy: 'steer' | 'interrupt' | 'reject',
    options: Parameters<typeof stage>[0] = {},
    before: (made: Stage) => unknown = () => {},
  ) {
    const made = await stage(options)
    await before(made)
    const chat = made.chat({ onBusy })
    const first = chat.sendMessage({ text: 'one' })
    made.cue((ctx) => ctx.say('working '))
    await until(() => textOf(chat.lastMessage) === 'working ')
    return { ...made, chat, first }
  }

  /** Lets something be said in the thread whose events then go. */
  async function trimmed({ client, run }: Stage): Promise<void> {
    await client.wait(await run('t', []))
    await client.prune({ eventsPerThread: 1 })
  }

  it('steers the run, if that is asked for, and the page goes on showing that run', async () => {
    const { chat, first, client, cue, end } = await busy('steer')
    const second = chat.sendMessage({ text: 'this way' })
    cue(
      (ctx) => ctx.receive(),
      (ctx) => ctx.say('told'),
    )
    await until(() => textOf(chat.messages[1]) === 'working told')
    end()
    await Promise.all([first, second])
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(await said({ client })).toEqual(['one', 'this way', 'working told'])
    expect(chat.status).toBe('ready')
  })

  it.each([
    ['', () => {}],
    [', though the log before it is no longer kept', trimmed],
  ])('shows the run once that read a steering message whose answer was lost%s', async (_though, before) => {
    let isLost = false
    const isRead = Promise.withResolvers<void>()
    const losing: typeof fetch = async (input, init) => {
      const answered = await fetch(input, init)
      if (isLost || init?.method !== 'POST' || !answered.url.endsWith('/runs')) return answered
      if (!(await answered.clone().text()).includes('"steered"')) return answered
      isLost = true
      await isRead.promise
      throw new TypeError('The answer was lost')
    }
    const { chat, first, client, cue, end } = await busy('steer', { fetch: losing }, before)
    const second = chat.sendMessage({ text: 'this way' })
    cue(
      (ctx) => ctx.receive(),
      (ctx) => ctx.say('told'),
      () => isRead.resolve(),
    )
    await until(() => textOf(chat.messages[1]) === 'working told' && isLost)
    await until(async () => (await client.snapshot('t')).watchers > 1)
    end()
    await Promise.all([first, second])
    expect(chat.messages.map(textOf)).toEqual(['one', 'working told', 'this way'])
    expect(chat.status).toBe('ready')
  })

  it('shows the run that a steering message becomes when nobody reads it', async () => {
    const { chat, first, client, cue, end } = await busy('steer')
    const second = chat.sendMessage({ text: 'this way' })
    await until(async () => {
      const { events } = await client.events('t')
      return events.some(({ type }) => type === 'inbox.accepted')
    })
    end()
    cue((ctx) => ctx.say('on my own'))
    end()
    await Promise.all([first, second])
    expect(chat.messages.map(textOf)).toEqual(['one', 'working ', 'this way', 'on my own'])
  })

  it('interrupts the run, if that is asked for', async () => {
    const { chat, first, cue, end } = await busy('interrupt')
    const second = chat.sendMessage({ text: 'two' })
    await first
    cue((ctx) => ctx.say('instead'))
    end()
    await second
    expect(chat.messages.map(textOf)).toEqual(['one', 'working ', 'two', 'instead'])
    expect(chat.messages[1]?.metadata).toMatchObject({ finish: 'cancelled' })
  })

  it('is rejected, if that is asked for', async () => {
    const { chat, first, end } = await busy('reject')
    await chat.sendMessage({ text: 'two' })
    expect(chat.error).toMatchObject({ code: 'busy' })
    end()
    await first
  })
})
