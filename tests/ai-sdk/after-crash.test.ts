import { jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import { type AiSdkAgentOptions, aiSdkAgent, type ToolCall, toolCall } from '../../src/ai-sdk/index.ts'
import type { Runtime, Task } from '../../src/index.ts'
import type { ModelServer } from '../model-server/model-server.ts'
import { turns } from '../model-server/script.ts'
import { forever } from '../scenarios/attempts.ts'
import { eventsUntil, gate, onEachStore, type World } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const letter = jsonSchema<{ to: string }>({ type: 'object', properties: { to: { type: 'string' } } })

interface Story {
  readonly runtime: Runtime
  readonly run: string
  readonly server: ModelServer
  /** The calls that were begun, in all lives. */
  readonly calls: Pick<ToolCall, 'key' | 'isRepeated'>[]
}

/** A process dies while the tool `send` is at work, and another goes on. The tool answers from its second call on. */
async function crashInTool(here: World, options: AiSdkAgentOptions): Promise<Story> {
  const server = await modelServer(turns({ calls: [{ name: 'send', input: { to: 'Ann' } }] }, { text: 'Done.' }))
  const calls: Story['calls'][number][] = []
  const begun = gate()
  const send = tool({
    inputSchema: letter,
    execute: () => {
      const { key = '', isRepeated = false } = toolCall() ?? {}
      calls.push({ key, isRepeated })
      begun.open()
      return calls.length === 1 ? forever() : 'sent'
    },
  })
  const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { send } }, options) }
  const first = await here.open({ agents })
  const { id } = await first.run({ thread: 't', agent: 'helper', prompt: 'Write to Ann' })
  await begun.opened
  await here.crash()
  return { runtime: await here.open({ agents }), run: id, server, calls }
}

/** Answers a question once so many were asked. */
async function answer(runtime: Runtime, text: string, count = 1): Promise<void> {
  let asked = 0
  await eventsUntil(runtime, { thread: 't', types: ['question.asked'] }, () => ++asked === count)
  const [question] = await runtime.questions({ thread: 't' })
  expect(question?.text).toMatch(/tool send .* \{"to":"Ann"\}/)
  await runtime.answer(question?.id ?? '', text)
}

async function toolText({ runtime, run, server }: Story): Promise<[Task | undefined, string | undefined]> {
  const task = await runtime.wait(run)
  return [task, server.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.text]
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-15 a tool that may be retried is called again under the same key, and told so', async () => {
    const story = await crashInTool(world(), { tools: { send: { afterCrash: 'retry' } } })
    expect(await toolText(story)).toMatchObject([{ status: 'completed' }, 'sent'])
    const key = `${story.run}:send`
    expect(story.calls).toEqual([
      { key, isRepeated: false },
      { key, isRepeated: true },
    ])
    expect(story.server.requests.length).toBe(2)
  })

  it('a tool that must not be retried fails, and the model is told why', async () => {
    const story = await crashInTool(world(), { afterCrash: 'retry', tools: { send: { afterCrash: 'fail' } } })
    const [task, text] = await toolText(story)
    expect(task).toMatchObject({ status: 'completed' })
    expect(text).toMatch(/process stopped while the tool send was at work/)
    expect(story.calls.length).toBe(1)
  })

  it.each([
    ['run it again', 'sent', 2],
    ['it was done', 'A person says that it had its effect', 1],
    ['treat it as failed', 'it had its effect is not known', 1],
  ])('unless stated otherwise people are asked: "%s"', async (choice, told, callCount) => {
    const story = await crashInTool(world(), {})
    await answer(story.runtime, choice)
    const [task, text] = await toolText(story)
    expect(task).toMatchObject({ status: 'completed' })
    expect(text).toContain(told)
    expect(story.calls.length).toBe(callCount)
  })

  it('REST-15 the question survives a crash and is asked once; a crash after its answer is asked about anew', async () => {
    const here = world()
    const server = await modelServer(turns({ calls: [{ name: 'send', input: { to: 'Ann' } }] }, { text: 'Done.' }))
    let callCount = 0
    let begun = gate()
    const send = tool({
      inputSchema: letter,
      execute: () => {
        callCount += 1
        begun.open()
        return callCount === 3 ? 'sent' : forever()
      },
    })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { send } }) }
    const first = await here.open({ agents })
    const { id } = await first.run({ thread: 't', agent: 'helper', prompt: 'Write to Ann' })
    await begun.opened
    await here.crash()
    const second = await here.open({ agents })
    await eventsUntil(second, { thread: 't' }, ({ type }) => type === 'question.asked')
    await here.crash()
    begun = gate()
    const third = await here.open({ agents })
    expect((await third.questions({ thread: 't' })).length).toBe(1)
    await answer(third, 'run it again')
    await begun.opened
    await here.crash()
    const fourth = await here.open({ agents })
    await answer(fourth, 'run it again', 2)
    expect(await fourth.wait(id)).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(callCount).toBe(3)
    expect(server.requests.length).toBe(2)
  })

  it('REST-15 each of several calls of one tool keeps its key, though a call equal to the first was the only one to end', async () => {
    const here = world()
    const calls = [1, 2, 1].map((amount) => ({ name: 'pay', input: { amount } }))
    const server = await modelServer(turns({ calls }, { text: 'Paid.' }))
    const begun: { key: string | undefined; amount: number }[] = []
    let isFirstLife = true
    const pay = tool({
      inputSchema: jsonSchema<{ amount: number }>({ type: 'object' }),
      execute: ({ amount }) => {
        begun.push({ key: toolCall()?.key, amount })
        return isFirstLife && begun.length < 3 ? forever() : 'paid'
      },
    })
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { pay } }, { afterCrash: 'retry' }) }
    const first = await here.open({ agents })
    const { id } = await first.run({ thread: 't', agent: 'helper', prompt: 'Pay' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'tool.result')
    await here.quiet()
    await here.crash()
    isFirstLife = false
    const [one, two, three] = begun.splice(0)
    expect([one, two, three]).toEqual([
      { key: `${id}:pay`, amount: 1 },
      { key: `${id}:pay#2`, amount: 2 },
      { key: `${id}:pay#3`, amount: 1 },
    ])
    const second = await here.open({ agents })
    expect(await second.wait(id)).toMatchObject({ status: 'completed', result: 'Paid.' })
    expect(begun).toEqual([one, two])
  })
})
