import { describe, expect, it } from 'vitest'
import type { AgentContext, QuestionOptions, Runtime } from '../../src/index.ts'
import { scriptAgent } from '../../src/index.ts'
import { asker, questionIn } from './asking.ts'
import { forever } from './bodies.ts'
import { inQuietTime } from './quiet-time.ts'
import { logOf, onEachStore, type World } from './world.ts'

const thread = 't'
// No multiple of the time after which a node looks for what nobody waits for.
const waitMs = 60_250

async function settledIn(runtime: Runtime): Promise<unknown[]> {
  const log = await logOf(runtime, thread)
  return log.filter(({ type }) => type === 'question.answered' || type === 'question.closed').map(({ data }) => data)
}

async function asking(here: World, runtime: Runtime, question: QuestionOptions): Promise<{ id: string; task: string }> {
  const task = await runtime.run({ thread, agent: 'asker', input: question })
  const { id } = await questionIn(runtime, thread)
  await here.quiet()
  return { id, task: task.id }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('a question whose time is over', () => {
    it('is answered by its default at its instant, and not before', async () => {
      const here = world()
      const runtime = await here.open({ agents: { asker } })
      const { id, task } = await asking(here, runtime, { text: 'Go on?', timeoutMs: waitMs, default: { yes: 1 } })
      const [question] = await runtime.questions()
      expect(question).toMatchObject({ default: { yes: 1 }, expiresAt: here.clock.now() + waitMs })
      await here.clock.advance(waitMs - 1)
      await here.quiet()
      expect(await settledIn(runtime)).toEqual([])
      await here.clock.advance(1)
      const result = { answer: { yes: 1 }, by: 'timeout' }
      expect(await runtime.wait(task)).toMatchObject({ status: 'completed', result })
      expect(await settledIn(runtime)).toEqual([{ id, ...result }])
      const facts = { ...result, answeredAt: question?.expiresAt }
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'already_answered', facts })
    })

    it('is closed without a default, and its task is told that nobody answered', async () => {
      const here = world()
      const catcher = (ctx: AgentContext, question: QuestionOptions) =>
        ctx.ask(question).catch(({ code, message }: { code: string; message: string }) => ({ code, message }))
      const runtime = await here.open({ agents: { asker: catcher } })
      const { id, task } = await asking(here, runtime, { text: 'Go on?', timeoutMs: waitMs })
      await here.clock.advance(waitMs)
      const result = { code: 'unanswered', message: 'Nobody answered in time: Go on?' }
      expect(await runtime.wait(task)).toMatchObject({ status: 'completed', result })
      expect(await settledIn(runtime)).toEqual([{ id, reason: 'timeout' }])
      const facts = { taskStatus: 'completed' }
      await expect(runtime.answer(id, 1)).rejects.toMatchObject({ code: 'task_terminated', facts })
    })

    it('fails a script that has nothing to go on with', async () => {
      const here = world()
      const runtime = await here.open({ agents: { script: scriptAgent() } })
      const script = [{ ask: { text: 'Go on?', timeoutMs: waitMs } }, { say: 'never' }]
      const task = await runtime.run({ thread, agent: 'script', input: { script } })
      await questionIn(runtime, thread)
      await here.quiet()
      await here.clock.advance(waitMs)
      const error = { code: 'agent_error', message: 'Nobody answered in time: Go on?' }
      expect(await runtime.wait(task.id)).toMatchObject({ status: 'failed', error })
    })

    it('is seen to though its task has given up waiting', async () => {
      const here = world()
      const hasty = async (ctx: AgentContext, question: QuestionOptions) => {
        void ctx.ask(question)
        return forever()
      }
      const runtime = await here.open({ agents: { asker: hasty } })
      const { id } = await asking(here, runtime, { text: 'Go on?', timeoutMs: 0, default: 'yes' })
      await inQuietTime(here, questionSettled(runtime), 500)
      expect(await settledIn(runtime)).toEqual([{ id, answer: 'yes', by: 'timeout' }])
      expect(await runtime.questions()).toEqual([])
    })

    it('expires once, also if that was due while no process lived', async () => {
      const here = world()
      const agents = { asker }
      const { id, task } = await asking(here, await here.open({ agents }), {
        text: 'Go on?',
        timeoutMs: waitMs,
        default: 'yes',
      })
      await here.crash()
      await here.clock.advance(2 * waitMs)
      const runtime = await here.open({ agents })
      expect(await runtime.wait(task)).toMatchObject({ result: { answer: 'yes', by: 'timeout' }, attempt: 2 })
      expect(await settledIn(runtime)).toEqual([{ id, answer: 'yes', by: 'timeout' }])
    })

    it.each(['yes', undefined])('expires though nobody can go on with its task, default %s', async (fallback) => {
      const here = world()
      const question = { text: 'Go on?', timeoutMs: waitMs, ...(fallback !== undefined && { default: fallback }) }
      const { id, task } = await asking(here, await here.open({ agents: { asker } }), question)
      await here.crash()
      await here.clock.advance(waitMs)
      const strange = await here.open({ agents: {} })
      // Before anybody has looked for what expired: an answer that comes too late is what looks.
      const code = fallback === undefined ? 'task_terminated' : 'already_answered'
      await expect(strange.answer(id, 'no')).rejects.toMatchObject({ code })
      const end = fallback === undefined ? { id, reason: 'timeout' } : { id, answer: fallback, by: 'timeout' }
      expect(await settledIn(strange)).toEqual([end])
      await here.crash()
      const runtime = await here.open({ agents: { asker } })
      const ended = await runtime.wait(task)
      if (fallback === undefined) expect(ended).toMatchObject({ status: 'failed', error: { code: 'agent_error' } })
      else expect(ended).toMatchObject({ result: { answer: fallback, by: 'timeout' } })
      expect(await settledIn(runtime)).toEqual([end])
    })

    it('is found by a node that cannot go on with its task', async () => {
      const here = world()
      const question = { text: 'Go on?', timeoutMs: waitMs, default: 'yes' }
      const { id } = await asking(here, await here.open({ agents: { asker } }), question)
      await here.crash()
      const strange = await here.open({ agents: {} })
      await inQuietTime(here, questionSettled(strange), 5_000)
      expect(await settledIn(strange)).toEqual([{ id, answer: 'yes', by: 'timeout' }])
    })

    it('is answered or expires, never both, when both happen at once', async () => {
      for (const isAnswerFirst of [true, false]) {
        const here = world()
        const runtime = await here.open({ agents: { asker } })
        const { id, task } = await asking(here, runtime, { text: 'Go on?', timeoutMs: waitMs, default: 'no' })
        await here.clock.advance(waitMs - 1)
        const held = here.store.hold()
        const answers = isAnswerFirst ? [runtime.answer(id, 'yes')] : []
        if (isAnswerFirst) await held.reached
        await here.clock.advance(1)
        if (!isAnswerFirst) answers.push(runtime.answer(id, 'yes'))
        held.open()
        const [answered] = await Promise.allSettled(answers)
        expect(answered?.status).toBe(isAnswerFirst ? 'fulfilled' : 'rejected')
        const ended = await runtime.wait(task)
        expect(ended).toMatchObject({ result: { answer: isAnswerFirst ? 'yes' : 'no' } })
        expect((await settledIn(runtime)).length).toBe(1)
      }
    })
  })

  describe('the time of a task', () => {
    const timeoutMs = 1_000

    async function slow(ctx: AgentContext): Promise<unknown> {
      await ctx.sleep(400)
      await Promise.all([ctx.ask({ text: 'a' }), ctx.ask({ text: 'b' })])
      return ctx.sleep(ctx.asked === 'input' ? 500 : 5_000)
    }

    async function untilAsked(here: World, runtime: Runtime): Promise<void> {
      await inQuietTime(here, questionIn(runtime, thread, 2), 100)
      await here.quiet()
    }

    async function answerAll(here: World, runtime: Runtime): Promise<void> {
      const [a, b] = await runtime.questions()
      await runtime.answer(a?.id ?? '', 1)
      await here.quiet()
      await here.clock.advance(10 * timeoutMs)
      await here.quiet()
      await runtime.answer(b?.id ?? '', 1)
      await here.quiet()
    }

    it('stands still while a question waits, and goes on after the last answer', async () => {
      const here = world()
      const runtime = await here.open({ agents: { slow } })
      const task = await runtime.run({ thread, agent: 'slow', prompt: 'go', timeoutMs })
      await untilAsked(here, runtime)
      await here.clock.advance(10 * timeoutMs)
      await answerAll(here, runtime)
      expect(await runtime.get(task.id)).toMatchObject({ status: 'running' })
      const answeredAt = here.clock.now()
      await inQuietTime(here, runtime.wait(task.id), 100)
      const ended = await runtime.get(task.id)
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
      expect((ended?.completedAt ?? 0) - answeredAt).toBe(600)
    })

    it('stands still over restarts as well', async () => {
      const here = world()
      const agents = { slow }
      const first = await here.open({ agents })
      const task = await first.run({ thread, agent: 'slow', input: 'go', timeoutMs })
      await untilAsked(here, first)
      await here.clock.advance(10 * timeoutMs)
      await here.crash()
      await here.clock.advance(10 * timeoutMs)
      const second = await here.open({ agents })
      await here.quiet()
      await answerAll(here, second)
      await here.crash()
      const third = await here.open({ agents })
      expect(await inQuietTime(here, third.wait(task.id), 100)).toMatchObject({ status: 'completed', attempt: 3 })
    })
  })
})

function questionSettled(runtime: Runtime): Promise<unknown> {
  return (async () => {
    for await (const { type } of runtime.subscribe({ thread })) {
      if (type === 'question.answered' || type === 'question.closed') return
    }
  })()
}
