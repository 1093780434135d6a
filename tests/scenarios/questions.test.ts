import { describe, expect, it } from 'vitest'
import { type AgentContext, isHoldfastError, type QuestionOptions, scriptAgent } from '../../src/index.ts'
import { asker, questionIn } from './asking.ts'
import { forever } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

const thread = 't'

/** Asks what is refused, and gives back why. */
async function refusalOf(ctx: AgentContext, question: QuestionOptions): Promise<unknown> {
  return ctx.ask(question).catch((error: unknown) => isHoldfastError(error) && error.code)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a question is asked, listed and answered, and its task goes on with the answer', async () => {
    const runtime = await world().open({ agents: { asker } })
    const options = ['yes', 'no']
    const task = await runtime.run({ thread, agent: 'asker', input: { text: 'Deploy?', options } })
    const question = await questionIn(runtime, thread)
    expect(question).toEqual({
      id: expect.stringMatching(/^q_[0-9a-f]{20}$/),
      thread,
      task: task.id,
      text: 'Deploy?',
      options,
      askedAt: expect.any(Number),
    })
    expect((await runtime.thread(thread)).questions).toEqual([question])
    expect(await runtime.questions()).toEqual([question])
    expect(await runtime.questions({ thread })).toEqual([question])
    expect(await runtime.questions({ thread: 'other' })).toEqual([])
    const answered = await runtime.answer(question.id, 'yes')
    expect(answered).toEqual({ ...question, answer: 'yes', by: 'owner', answeredAt: expect.any(Number) })
    const result = { answer: 'yes', by: 'owner' }
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result })
    expect(await runtime.questions()).toEqual([])
    expect((await runtime.thread(thread)).questions).toEqual([])
    const log = await logOf(runtime, thread)
    const types = ['task.accepted', 'task.started', 'message.created', 'question.asked', 'question.answered']
    expect(log.map((event) => event.type)).toEqual([...types, 'task.completed'])
    expect(log[3]).toMatchObject({ task: task.id, epoch: 1, data: { question } })
    expect(log[4]).toMatchObject({ task: task.id, data: { id: question.id, ...result } })
    expect(log[4]).not.toHaveProperty('epoch')
  })

  it('a second answer is told the first, also after the task has ended', async () => {
    const runtime = await world().open({ agents: { asker } })
    const task = await runtime.run({ thread, agent: 'asker', input: { text: 'Which?' } })
    const { id } = await questionIn(runtime, thread)
    const { answeredAt } = await runtime.answer(id, { city: 'Rome' })
    const refusal = { code: 'already_answered', facts: { answer: { city: 'Rome' }, by: 'owner', answeredAt } }
    await expect(runtime.answer(id, { city: 'Rome' })).rejects.toMatchObject(refusal)
    await runtime.wait(task.id)
    await expect(runtime.answer(id, 'Oslo')).rejects.toMatchObject(refusal)
  })

  it('of many answers at once one counts, and all others are told it', async () => {
    const runtime = await world().open({ agents: { asker } })
    const task = await runtime.run({ thread, agent: 'asker', input: { text: 'Which?' } })
    const { id } = await questionIn(runtime, thread)
    const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => runtime.answer(id, n)))
    const first = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.answer] : []))
    expect(first.length).toBe(1)
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue
      expect(answer.reason).toMatchObject({ code: 'already_answered', facts: { answer: first[0] } })
    }
    expect(await runtime.wait(task.id)).toMatchObject({ result: { answer: first[0] } })
    const log = await logOf(runtime, thread)
    expect(log.filter((event) => event.type === 'question.answered').length).toBe(1)
  })

  it('with options only one of them is an answer', async () => {
    const runtime = await world().open({ agents: { asker } })
    const task = await runtime.run({ thread, agent: 'asker', input: { text: 'Deploy?', options: ['yes', 'null'] } })
    const { id } = await questionIn(runtime, thread)
    for (const wrong of ['Yes', '', null, ['yes'], { yes: true }, 0, undefined]) {
      await expect(runtime.answer(id, wrong)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect((await runtime.questions()).length).toBe(1)
    await runtime.answer(id, 'null')
    expect(await runtime.wait(task.id)).toMatchObject({ result: { answer: 'null' } })
  })

  it('an answer that does not fit into an event is refused, and the question stays open', async () => {
    const runtime = await world().open({ agents: { asker }, limits: { eventBytes: 1000 } })
    await runtime.run({ thread, agent: 'asker', input: { text: 'Which?' } })
    const { id } = await questionIn(runtime, thread)
    for (const length of [995, 5000]) {
      await expect(runtime.answer(id, 'x'.repeat(length))).rejects.toMatchObject({ code: 'too_large' })
    }
    await expect(runtime.answer(id, () => {})).rejects.toMatchObject({ code: 'not_serialisable' })
    expect((await runtime.questions()).map((question) => question.id)).toEqual([id])
  })

  it('a question of another principal is as one that does not exist', async () => {
    const runtime = await world().open({ agents: { asker } })
    await runtime.run({ thread, agent: 'asker', input: { text: 'Deploy?', options: ['yes'] } })
    const { id } = await questionIn(runtime, thread)
    const [unknown, foreign, closed] = await Promise.allSettled([
      runtime.as('bob').answer('q_0', 'yes'),
      runtime.as('bob').answer(id, 'yes'),
      runtime.as('bob').answer(id, 'not an option'),
    ])
    expect(foreign).toEqual(unknown)
    expect(closed).toEqual(unknown)
    expect(unknown).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
    expect(await runtime.as('bob').questions()).toEqual([])
    expect(await runtime.as('bob').questions({ thread })).toEqual([])
    expect((await runtime.questions()).length).toBe(1)
  })

  it('questions of branches are open side by side, each with its own answer', async () => {
    const many = (ctx: AgentContext) => Promise.all(['a', 'b', 'c'].map((text) => ctx.ask({ text })))
    const runtime = await world().open({ agents: { many } })
    const task = await runtime.run({ thread, agent: 'many', prompt: 'go' })
    await questionIn(runtime, thread, 3)
    const questions = await runtime.questions()
    expect(questions.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    for (const { id, text } of questions.toReversed()) await runtime.answer(id, `${text}!`)
    const answers = ['a!', 'b!', 'c!'].map((answer) => ({ answer, by: 'owner' }))
    expect(await runtime.wait(task.id)).toMatchObject({ result: answers })
  })

  it('a task that has as many open questions as it may is refused another', async () => {
    const greedy = async (ctx: AgentContext) => {
      const open = [ctx.ask({ text: '1' }), ctx.ask({ text: '2' })]
      return [await refusalOf(ctx, { text: '3' }), ...(await Promise.all(open)), await ctx.ask({ text: '4' })]
    }
    const runtime = await world().open({ agents: { greedy }, limits: { openQuestionsPerTask: 2 } })
    const task = await runtime.run({ thread, agent: 'greedy', prompt: 'go' })
    for (const nth of [1, 2, 3]) await runtime.answer((await questionIn(runtime, thread, nth)).id, nth)
    const answers = [1, 2, 3].map((answer) => ({ answer, by: 'owner' }))
    expect(await runtime.wait(task.id)).toMatchObject({ result: ['limit_reached', ...answers] })
  })

  it.each<[string, unknown]>([
    ['too_large', { text: 'x'.repeat(2000) }],
    ['too_large', { text: 'x', options: Array(20).fill('x'.repeat(50)) }],
    ['too_large', { text: 'x', default: 'x'.repeat(1000) }],
    ['invalid_request', { text: '' }],
    ['invalid_request', { text: 1 }],
    ['invalid_request', { text: 'x', options: [] }],
    ['invalid_request', { text: 'x', options: 'yes' }],
    ['invalid_request', { text: 'x', options: ['yes', 1] }],
    ['invalid_request', { text: 'x', options: ['yes'], default: 'no' }],
    ['invalid_request', { text: 'x', timeoutMs: -1 }],
    ['invalid_request', { text: 'x', timeoutMs: '1' }],
    ['invalid_request', { text: 'x', key: '' }],
  ])('the agent is refused as %s what makes no question: %j', async (code, question) => {
    const runtime = await world().open({ agents: { refusalOf }, limits: { eventBytes: 1000 } })
    const task = await runtime.spawn({ thread, agent: 'refusalOf', input: question })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: code })
    expect((await logOf(runtime, thread)).map((event) => event.type)).not.toContain('question.asked')
  })

  it('a waiting task holds no slot', async () => {
    const other = () => 'done'
    const runtime = await world().open({ agents: { asker, other }, concurrency: 1 })
    const tasks = await Promise.all(
      ['a', 'b', 'c'].map((text) => runtime.spawn({ thread, agent: 'asker', input: { text } })),
    )
    await questionIn(runtime, thread, 3)
    const free = await runtime.spawn({ thread, agent: 'other' })
    expect(await runtime.wait(free.id)).toMatchObject({ status: 'completed' })
    for (const { id } of await runtime.questions()) await runtime.answer(id, 1)
    for (const { id } of tasks) expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('an erased thread has no questions, and nothing of them is told any more', async () => {
    const runtime = await world().open({ agents: { asker } })
    await runtime.run({ thread, agent: 'asker', input: { text: 'one' } })
    const first = await questionIn(runtime, thread)
    await runtime.answer(first.id, 1)
    await runtime.run({ thread, agent: 'asker', input: { text: 'two' } })
    const second = await questionIn(runtime, thread, 2)
    await runtime.deleteThread(thread)
    expect(await runtime.questions()).toEqual([])
    for (const { id } of [first, second]) {
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'not_found' })
    }
  })
})

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('the end of a task closes what it asked, in the same commit', () => {
    it('when it is cancelled', async () => {
      const here = world()
      const tooled = (ctx: AgentContext) => Promise.all([ctx.tool('build', {}, forever), ctx.ask({ text: 'Deploy?' })])
      const runtime = await here.open({ agents: { tooled } })
      const task = await runtime.run({ thread, agent: 'tooled', prompt: 'go' })
      const { id } = await questionIn(runtime, thread)
      expect(await runtime.cancel(task.id)).toBe(true)
      expect(await runtime.wait(task.id)).toMatchObject({ status: 'cancelled' })
      const end = here.committed.find((unit) => unit.operation === 'end')
      expect(end?.events.map((event) => event.type)).toEqual([
        'tool.result',
        'question.closed',
        'message.created',
        'task.cancelled',
      ])
      expect((await logOf(runtime, thread)).find((event) => event.type === 'question.closed')?.data).toEqual({
        id,
        reason: 'ended',
      })
      const facts = { taskStatus: 'cancelled' }
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'task_terminated', facts })
      expect(await runtime.questions()).toEqual([])
    })

    it('when it ends without having waited', async () => {
      const runtime = await world().open({
        agents: {
          hasty: async (ctx: AgentContext) => {
            void ctx.ask({ text: 'Anybody?' }).catch(() => {})
            await questionIn(runtime, thread)
            return 'done'
          },
        },
      })
      const task = await runtime.run({ thread, agent: 'hasty', prompt: 'go' })
      expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: 'done' })
      const log = await logOf(runtime, thread)
      expect(log.map((event) => event.type).slice(-3)).toEqual(['question.asked', 'question.closed', 'task.completed'])
      const { id } = await questionIn(runtime, thread)
      const facts = { taskStatus: 'completed' }
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'task_terminated', facts })
    })

    it('and from its cancel on it cannot be answered, and asks nothing more', async () => {
      const finish = gate()
      const refusals: unknown[] = []
      const stubborn = async (ctx: AgentContext) => {
        await ctx.ask({ text: 'Deploy?' }).catch((error: Error) => refusals.push(error.name))
        await ctx.ask({ text: 'Really not?' }).catch((error: Error) => refusals.push(error.name))
        return finish.opened
      }
      const runtime = await world().open({ agents: { stubborn } })
      const task = await runtime.run({ thread, agent: 'stubborn', prompt: 'go' })
      const { id } = await questionIn(runtime, thread)
      await runtime.cancel(task.id)
      const facts = { taskStatus: 'cancelled' }
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'task_terminated', facts })
      finish.open()
      await runtime.wait(task.id)
      expect(refusals).toEqual(['AbortError', 'AbortError'])
      expect((await logOf(runtime, thread)).filter((event) => event.type === 'question.asked').length).toBe(1)
    })
  })

  it('a script asks and goes on with the answer', async () => {
    const runtime = await world().open({ agents: { script: scriptAgent() } })
    const script = [{ say: 'a' }, { ask: { text: 'Which?', options: ['x', 'y'] } }, { say: 'b' }]
    const task = await runtime.run({ thread, agent: 'script', input: { script } })
    await runtime.answer((await questionIn(runtime, thread)).id, 'y')
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed', result: { said: 'ab' } })
    const custom = (await logOf(runtime, thread)).filter((event) => event.type === 'custom')
    expect(custom.map((event) => event.data)).toEqual([{ name: 'answered', payload: { answer: 'y', by: 'owner' } }])
  })
})
