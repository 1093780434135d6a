import { jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import { aiSdkAgent } from '../../src/ai-sdk/index.ts'
import type { Runtime } from '../../src/index.ts'
import { turns } from '../model-server/script.ts'
import { eventsUntil, onEachStore } from '../scenarios/world.ts'
import { modelOf, modelServer } from './with-model.ts'

const file = jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } })
const anything = jsonSchema<object>({ type: 'object' })
const script = turns({ text: 'I will. ', calls: [{ name: 'remove', input: { path: '/tmp/a' } }] }, { text: 'Done.' })

async function answerNext(runtime: Runtime, text: string): Promise<string> {
  await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'question.asked')
  const [question] = await runtime.questions({ thread: 't' })
  await runtime.answer(question?.id ?? '', text)
  return question?.text ?? ''
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a tool that needs approval is a question, and goes on in the same run once it is approved', async () => {
    const removed: string[] = []
    const server = await modelServer(script)
    const remove = tool({ inputSchema: file, needsApproval: true, execute: ({ path }) => removed.push(path) })
    const runtime = await world().open({
      agents: { helper: aiSdkAgent({ model: modelOf(server), tools: { remove } }) },
    })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Clean up' })
    expect(await answerNext(runtime, 'approve')).toBe('May the tool remove be called with {"path":"/tmp/a"}?')
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Done.', attempt: 1 })
    expect(removed).toEqual(['/tmp/a'])
    expect(server.requests.length).toBe(2)
  })

  it('a tool that is denied is not executed; model and conversation are told by whom', async () => {
    const server = await modelServer(script)
    const remove = tool({ inputSchema: file, execute: () => 'never' })
    const settings = {
      model: modelOf(server),
      tools: { remove },
      toolApproval: { remove: { type: 'user-approval', reason: 'it is gone for good' } as const },
    }
    const runtime = await world().open({ agents: { helper: aiSdkAgent(settings) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Clean up' })
    expect(await answerNext(runtime, 'deny')).toContain('(it is gone for good)')
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(server.requests.at(-1)?.messages.at(-1)?.text).toMatch(/denied by/)
    const parts = (await runtime.thread('t')).messages.at(-1)?.parts
    expect(parts).toMatchObject([
      { type: 'text', text: 'I will. ' },
      { type: 'tool', name: 'remove', input: { path: '/tmp/a' }, error: expect.stringMatching(/denied by/) },
      { type: 'text', text: 'Done.' },
    ])
  })

  it('a function decides once which calls need approval, also over a crash', async () => {
    let decisionCount = 0
    const server = await modelServer(script)
    const remove = tool({ inputSchema: file, execute: () => 'removed' })
    const toolApproval = {
      remove: ({ path }: { path: string }) => {
        decisionCount += 1
        return path.startsWith('/tmp') ? ('user-approval' as const) : ('denied' as const)
      },
    }
    const agents = { helper: aiSdkAgent({ model: modelOf(server), tools: { remove }, toolApproval }) }
    const here = world()
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Clean up' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'question.asked')
    await here.crash()
    const second = await here.open({ agents })
    await answerNext(second, 'approve')
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Done.', attempt: 2 })
    expect(decisionCount).toBe(1)
    expect(server.requests.length).toBe(2)
  })

  it('whoever approves has seen the whole input, and approves no other: a call that has changed since is asked about anew', async () => {
    const path = `/tmp/${'a'.repeat(5000)}`
    const server = await modelServer(turns({ calls: [{ name: 'remove', input: { path } }] }, { text: 'Done.' }))
    const removed: string[] = []
    const agentsWith = (change: (path: string) => string) => {
      const validate = (value: unknown) => ({
        success: true,
        value: { path: change((value as { path: string }).path) },
      })
      const inputSchema = jsonSchema<{ path: string }>({ type: 'object' }, { validate: validate as never })
      const remove = tool({ inputSchema, needsApproval: true, execute: (input) => removed.push(input.path) })
      return { helper: aiSdkAgent({ model: modelOf(server), tools: { remove } }) }
    }
    const here = world()
    const first = await here.open({ agents: agentsWith((given) => given) })
    const run = await first.run({ thread: 't', agent: 'helper', prompt: 'Clean up' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'question.asked')
    const [seen] = await first.questions({ thread: 't' })
    expect(seen?.text).toContain(path)
    await here.crash()
    const second = await here.open({ agents: agentsWith(() => '/') })
    await here.quiet()
    await second.answer(seen?.id ?? '', 'approve')
    const [other] = await second.questions({ thread: 't' })
    expect(other?.text).toBe('May the tool remove be called with {"path":"/"}?')
    await second.answer(other?.id ?? '', 'deny')
    expect(await second.wait(run.id)).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(removed).toEqual([])
  })

  it('a call that does not fit its schema, and one that a client would execute, are closed in the conversation', async () => {
    const strict = jsonSchema<{ path: string }>(
      { type: 'object' },
      { validate: () => ({ success: false, error: new Error('no path given') }) },
    )
    const server = await modelServer(
      turns(
        { calls: [{ name: 'remove', input: {} }] },
        { text: 'Then you do it.', calls: [{ name: 'click', input: { on: 'ok' } }] },
      ),
    )
    const tools = {
      remove: tool({ inputSchema: strict, execute: () => 'never' }),
      click: tool({ inputSchema: anything, outputSchema: anything }),
    }
    const runtime = await world().open({ agents: { helper: aiSdkAgent({ model: modelOf(server), tools }) } })
    const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Clean up' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'Then you do it.' })
    expect((await runtime.thread('t')).messages.at(-1)?.parts).toMatchObject([
      { type: 'tool', name: 'remove', error: expect.stringContaining('no path given') },
      { type: 'text', text: 'Then you do it.' },
      { type: 'tool', name: 'click', input: { on: 'ok' }, error: expect.stringContaining('completed') },
    ])
  })
})
