import { describe, expect, it } from 'vitest'
import { type AgentContext, isHoldfastError, type Runtime, scriptAgent } from '../../src/index.ts'
import { asker, questionIn } from './asking.ts'
import { forever } from './attempts.ts'
import { crashEverywhere, crashEverywhereTwice, crashTestMs, type Story } from './crash-everywhere.ts'
import { logOf, onEachStore } from './world.ts'

const thread = 't'

/** Answers these questions as they come. A client that got no answer asks again, and learns that its first got through. */
async function answering(runtime: Runtime, answers: Readonly<Record<string, unknown>>): Promise<void> {
  const left = new Set(Object.keys(answers))
  for await (const event of runtime.subscribe({ thread })) {
    if (event.type !== 'question.asked' || !left.delete(event.data.question.text)) continue
    const { id, text } = event.data.question
    await runtime.answer(id, answers[text]).catch((error: unknown) => {
      if (!isHoldfastError(error, 'already_answered')) throw error
      expect(error.facts['answer']).toEqual(answers[text])
    })
    if (left.size === 0) return
  }
}

/** Each question was asked once, and has one end. */
async function checkQuestions(runtime: Runtime, count: number): Promise<void> {
  const log = await logOf(runtime, thread)
  const asked = log.flatMap((event) => (event.type === 'question.asked' ? [event.data.question] : []))
  const ends = log.flatMap(({ type, data }) =>
    type === 'question.answered' || type === 'question.closed' ? [data.id] : [],
  )
  expect(asked.map(({ text }) => text)).toEqual([...new Set(asked.map(({ text }) => text))])
  expect(asked.length).toBe(count)
  expect(ends.toSorted()).toEqual(asked.map(({ id }) => id).toSorted())
}

const conversation: Story = {
  agents: (executions) => ({
    asking: async (ctx: AgentContext) => {
      await ctx.say('asks ')
      const first = await ctx.ask({ text: 'first' })
      await ctx.say('again ')
      const second = await ctx.step('inside', async () => {
        executions.note(ctx, 'inside')
        const { answer } = await ctx.ask({ text: 'second', options: ['x', 'y'], timeoutMs: 1000, default: 'x' })
        await ctx.emit('answered', { answer })
        return answer
      })
      const fallback = await ctx.ask({ text: 'third', timeoutMs: 20, default: 3 })
      const nobody = await ctx.ask({ text: 'fourth', timeoutMs: 10 }).catch((error: { code: string }) => error.code)
      await ctx.step('note', () => executions.note(ctx, 'note'))
      return [first, second, fallback, nobody]
    },
  }),
  clients: async (runtime) => {
    const { id } = await runtime.run({ thread, agent: 'asking', prompt: 'go', idempotencyKey: 'go' })
    await answering(runtime, { first: { n: 1 }, second: 'y' })
    await runtime.wait(id)
    await checkQuestions(runtime, 4)
  },
}

/** Branches come to their questions in another order when what was before them is recorded. */
const branches: Story = {
  isParallel: true,
  agents: () => ({
    asking: async (ctx: AgentContext) => {
      const slow = async (text: string, ms: number) => {
        await ctx.sleep(ms)
        return ctx.ask({ text })
      }
      return Promise.all([slow('late', 15), slow('early', 5), ctx.ask({ text: 'keyed', key: 'mine' }), slow('mid', 10)])
    },
  }),
  clients: async (runtime) => {
    const { id } = await runtime.run({ thread, agent: 'asking', prompt: 'go', idempotencyKey: 'go' })
    await answering(runtime, { late: 'l', early: 'e', keyed: 'k', mid: 'm' })
    await runtime.wait(id)
    await checkQuestions(runtime, 4)
  },
}

const scripted: Story = {
  agents: () => ({ script: scriptAgent() }),
  clients: async (runtime) => {
    const script = [{ say: 'a ' }, { ask: { text: 'first' } }, { ask: { text: 'second', timeoutMs: 5, default: 1 } }]
    const { id } = await runtime.run({ thread, agent: 'script', input: { script }, idempotencyKey: 'go' })
    await answering(runtime, { first: 'yes' })
    await runtime.wait(id)
    await checkQuestions(runtime, 2)
  },
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  describe('wherever its process dies', () => {
    it.each([
      ['a question is asked once, and an answer once committed is read', conversation],
      ['each branch is given the answer to its own question', branches],
      ['a script asks once', scripted],
    ])('REST-15 %s', (_title, story) => crashEverywhere(kind, story), crashTestMs)

    it(
      'REST-15 a question is asked once, when the next process dies as well',
      () => crashEverywhereTwice(kind, conversation),
      crashTestMs,
    )
  })

  it('REST-15 an open question is the same one after a crash and after a hand-over', async () => {
    const here = world()
    const agents = { asker }
    let runtime = await here.open({ agents })
    const task = await runtime.run({ thread, agent: 'asker', input: { text: 'Deploy?', timeoutMs: 1_000_000 } })
    const question = await questionIn(runtime, thread)
    await here.crash()
    runtime = await here.open({ agents })
    expect(await runtime.questions()).toEqual([question])
    await here.quiet()
    await runtime.close({ drainMs: 0 })
    runtime = await here.open({ agents })
    expect(await runtime.questions()).toEqual([question])
    await runtime.answer(question.id, 'yes')
    expect(await runtime.wait(task.id)).toMatchObject({ result: { answer: 'yes', by: 'owner' }, attempt: 3 })
    await checkQuestions(runtime, 1)
  })

  it('an answer that was committed while nobody could go on with the task is read when somebody can', async () => {
    const here = world()
    const first = await here.open({ agents: { asker } })
    const task = await first.run({ thread, agent: 'asker', input: { text: 'Deploy?' } })
    const { id } = await questionIn(first, thread)
    await here.crash()
    const strange = await here.open({ agents: {} })
    await strange.answer(id, 'yes')
    await here.crash()
    const last = await here.open({ agents: { asker } })
    expect(await last.wait(task.id)).toMatchObject({ result: { answer: 'yes', by: 'owner' }, attempt: 2 })
  })

  it('a question whose text has changed since is the one of its step, if it is alone', async () => {
    const here = world()
    const agents = { asking: (ctx: AgentContext) => ctx.ask({ text: `Deploy, try ${ctx.attempt}?` }) }
    const first = await here.open({ agents })
    const task = await first.run({ thread, agent: 'asking', prompt: 'go' })
    const { id } = await questionIn(first, thread)
    await here.crash()
    const second = await here.open({ agents })
    await here.quiet()
    await second.answer(id, 'yes')
    expect(await second.wait(task.id)).toMatchObject({ result: { answer: 'yes' } })
    await checkQuestions(second, 1)
  })

  it('branches that come back in another order each find their own open question', async () => {
    const here = world()
    const texts = ['a', 'b', 'c']
    const agents = {
      asking: async (ctx: AgentContext) => {
        const order = ctx.attempt === 1 ? texts : texts.toReversed()
        const answers = await Promise.all(order.map(async (text) => [text, (await ctx.ask({ text })).answer]))
        return Object.fromEntries(answers)
      },
    }
    const first = await here.open({ agents })
    const task = await first.run({ thread, agent: 'asking', prompt: 'go' })
    const last = await questionIn(first, thread, 3)
    await first.answer(last.id, `${last.text}!`)
    await here.crash()
    const second = await here.open({ agents })
    await here.quiet()
    for (const { id, text } of await second.questions()) await second.answer(id, `${text}!`)
    expect(await second.wait(task.id)).toMatchObject({ result: { a: 'a!', b: 'b!', c: 'c!' } })
    await checkQuestions(second, 3)
  })

  it('branches that ask the same have a question each, before a crash and after it', async () => {
    const here = world()
    const agents = {
      asking: async (ctx: AgentContext) => {
        const texts = ctx.attempt === 1 ? ['other', 'same', 'same'] : ['same', 'same', 'other']
        const answers = await Promise.all(texts.map((text) => ctx.ask({ text })))
        return answers.map(({ answer }) => answer)
      },
    }
    const first = await here.open({ agents })
    const task = await first.run({ thread, agent: 'asking', prompt: 'go' })
    await questionIn(first, thread, 3)
    await here.crash()
    const second = await here.open({ agents })
    await here.quiet()
    const questions = await second.questions()
    expect(questions.map(({ text }) => text)).toEqual(['other', 'same', 'same'])
    for (const [at, { id }] of questions.entries()) await second.answer(id, at)
    const { result } = (await second.wait(task.id)) ?? {}
    expect((result as number[]).toSorted()).toEqual([0, 1, 2])
  })

  it('a cancel that is committed while nobody goes on with the task closes its question', async () => {
    const here = world()
    const first = await here.open({ agents: { asker } })
    const task = await first.run({ thread, agent: 'asker', input: { text: 'Deploy?' } })
    const { id } = await questionIn(first, thread)
    await here.crash()
    const strange = await here.open({ agents: {} })
    expect(await strange.cancel(task.id)).toBe(true)
    expect(await strange.wait(task.id)).toMatchObject({ status: 'cancelled' })
    const types = (await logOf(strange, thread)).map((event) => event.type)
    expect(types.slice(-3)).toEqual(['question.closed', 'message.created', 'task.cancelled'])
    await expect(strange.answer(id, 1)).rejects.toMatchObject({ code: 'task_terminated' })
  })

  it('a task that only waits for people outlives any number of crashes, and so does one that waits for it', async () => {
    const here = world()
    const agents = {
      asker,
      parent: async (ctx: AgentContext) => {
        const child = await ctx.spawn({ agent: 'asker', input: { text: 'Deploy?' } })
        return ctx.wait(child.id)
      },
      busy: (ctx: AgentContext) => Promise.all([ctx.ask({ text: 'Really?' }), ctx.step('work', () => forever())]),
    }
    let runtime = await here.open({ agents })
    const parent = await runtime.run({ thread, agent: 'parent', prompt: 'go' })
    const busy = await runtime.spawn({ thread, agent: 'busy' })
    for (let crashCount = 0; crashCount < 7; crashCount += 1) {
      await here.quiet()
      await here.crash()
      runtime = await here.open({ agents })
    }
    expect(await runtime.wait(busy.id)).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 3 })
    const [question] = await runtime.questions({ thread })
    expect(question?.text).toBe('Deploy?')
    await runtime.answer(question?.id ?? '', 'yes')
    expect(await runtime.wait(parent.id)).toMatchObject({
      status: 'completed',
      attempt: 8,
      result: { answer: { answer: 'yes' } },
    })
  })
})
