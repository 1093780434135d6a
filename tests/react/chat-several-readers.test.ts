import { describe, expect, it } from 'vitest'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import { until } from '../server/harness/local-server.ts'
import { type Stage, stage, textOf } from './chat-stage.ts'

/** A chat whose first message is being answered, and what reads its answers. */
async function busy() {
  const made = await stage()
  const { over: transport } = made.chat({ onBusy: 'steer' })
  const read = async (id: string, abortSignal?: AbortSignal) => {
    const message = { id, role: 'user' as const, parts: [{ type: 'text', text: id }] }
    const asked = { chatId: 't', messages: [message], messageId: undefined, abortSignal }
    return (await transport.sendMessages({ trigger: 'submit-message', ...asked })).getReader()
  }
  return { ...made, read }
}

/** Until the run has read what was sent to it. */
async function receive({ cue, end }: Stage): Promise<void> {
  const isTold = Promise.withResolvers<undefined>()
  cue(
    (ctx) => ctx.receive(),
    () => isTold.resolve(undefined),
  )
  await isTold.promise
  end()
}

describe('a run whose stream was left', () => {
  it.each(['cancelled', 'aborted'] as const)('is shown with the next message that steers it: %s', async (how) => {
    const here = await busy()
    const leaving = new AbortController()
    const first = await here.read('one', leaving.signal)
    // The next chunk is there already, and nobody takes it.
    await first.read()
    if (how === 'cancelled') await first.cancel()
    else leaving.abort()
    const second = await here.read('two')
    expect((await second.read()).value).toMatchObject({ type: 'start' })
    await receive(here)
  })

  it('is not shown twice while another still reads it', async () => {
    const here = await busy()
    const [first, same] = [await here.read('one'), await here.read('one')]
    for (const reader of [first, same]) await reader.read()
    await same.cancel()
    const second = await here.read('two')
    await receive(here)
    expect((await second.read()).value).toEqual({ type: 'finish' })
  })
})

describe('a chat that comes back to several runs', () => {
  it('shows those that wait after one that fails', async () => {
    const { client, chat: open, cue, end } = await stage()
    const before = open()
    const sent = [before.sendMessage({ text: 'one' })]
    cue((ctx) => ctx.say('first'))
    await until(() => textOf(before.lastMessage) === 'first')
    sent.push(before.sendMessage({ text: 'two' }))
    await until(async () => (await client.list({ thread: 't' })).tasks.length === 2)
    const after = open({ messages: toUIMessages(await client.snapshot('t')) })
    const resumed = after.resumeStream()
    await until(() => after.status === 'streaming')
    cue(
      () => Promise.reject(new Error('out of luck')),
      (ctx) => ctx.say('second'),
    )
    end()
    await Promise.all([...sent, resumed])
    expect(after.messages.map(textOf)).toEqual(['one', 'first', 'two', 'second'])
    expect(after.messages[1]?.metadata).toMatchObject({ finish: 'error' })
    expect(after.status).toBe('ready')
  })
})
