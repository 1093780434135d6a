import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { type AgentContext, demoAgent } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { crashTestMs, type Story, tell } from './crash-everywhere.ts'
import { inQuietTime } from './quiet-time.ts'
import { checkInvariants } from './resume-invariants.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

// Fast enough to be told often; all of its pauses are then multiples of five milliseconds.
const input = { topic: 'Is it whole?', pace: 80 }
const agents = { demo: demoAgent() }
const steer = 'Mind the gaps'

async function answerOnce(runtime: Runtime, answer: string): Promise<void> {
  await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'question.asked')
  for (const { id } of await runtime.questions({ thread: 't' })) await runtime.answer(id, answer)
}

function textOf(events: readonly Event[], task: string): string {
  return events.flatMap((event) => (event.task === task && event.type === 'text.delta' ? event.data.text : [])).join('')
}

const story: Story = {
  agents: () => ({
    demo: (ctx: AgentContext, given: unknown) => (demoAgent().run as (...args: unknown[]) => unknown)(ctx, given),
  }),
  async clients(runtime) {
    const { id } = await runtime.run({ thread: 't', agent: 'demo', input, idempotencyKey: 'go' })
    await runtime.run({ thread: 't', agent: 'demo', prompt: steer, onBusy: 'steer', idempotencyKey: 'steer' })
    await answerOnce(runtime, 'My manager')
    await runtime.wait(id)
  },
  isParallel: true,
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  describe('the demo', () => {
    it('spawns three helpers that stream, retries a tool, asks a question and reports what came of it', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      await answerOnce(runtime, 'A child of ten')
      const ended = await inQuietTime(here, runtime.wait(id))
      expect(ended).toMatchObject({
        status: 'completed',
        result: { topic: 'Is it whole?', audience: 'A child of ten', answeredBy: 'owner', findings: { length: 3 } },
      })
      const log = await logOf(runtime, 't')
      const { tasks } = await runtime.list({ thread: 't', parent: id })
      expect(tasks.map(({ status, name }) => [status, name?.replace(/-.*/, '')]).toSorted()).toEqual([
        ['completed', 'events'],
        ['completed', 'steps'],
        ['completed', 'trees'],
      ])
      for (const task of tasks) expect(textOf(log, task.id).length).toBeGreaterThan(200)
      const failures = log.filter(({ type, data }) => type === 'tool.result' && 'error' in data)
      expect(failures).toHaveLength(1)
      expect(textOf(log, id)).toMatch(
        /^About “Is it whole\?”.*As one would tell it to a child of ten \(owner answered\)/,
      )
    })

    it('streams its helpers side by side, and asks, within its first second', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      await runtime.run({ thread: 't', agent: 'demo', prompt: 'Is it live?' })
      const heard = eventsUntil(runtime, { thread: 't', types: ['thinking'] }, ({ task }) => task === 'bg_3')
      await inQuietTime(here, heard)
      expect(await runtime.questions({ thread: 't' })).toMatchObject([
        { options: { length: 3 }, default: 'A colleague' },
      ])
      expect(here.clock.now() - 1_700_000_000_000).toBeLessThan(1_000)
    })

    it('goes on for long enough to be reloaded, killed, started again and cancelled by hand', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', prompt: 'Is it long?' })
      await answerOnce(runtime, 'A colleague')
      await inQuietTime(here, runtime.wait(id), 400)
      const { tasks } = await runtime.list({ thread: 't', parent: id })
      for (const { startedAt = 0, completedAt = 0 } of tasks) {
        expect(completedAt - startedAt).toBeGreaterThan(120_000)
        expect(completedAt - startedAt).toBeLessThan(180_000)
      }
    })

    it('reads what people write to it while it works, says so, and reports it', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      await runtime.run({ thread: 't', agent: 'demo', prompt: steer, onBusy: 'steer' })
      await runtime.send(id, { content: { page: 7 } })
      const heard = eventsUntil(runtime, { thread: 't', types: ['text.delta'] }, ({ type, data }) => {
        return type === 'text.delta' && data.text.includes('{"page":7}')
      })
      await inQuietTime(here, heard)
      expect((await runtime.get(id))?.status).toBe('running')
      await answerOnce(runtime, 'A colleague')
      expect(await inQuietTime(here, runtime.wait(id))).toMatchObject({
        status: 'completed',
        result: { notes: [steer, '{"page":7}'], findings: { length: 3 } },
      })
      const text = textOf(await logOf(runtime, 't'), id)
      expect(text).toMatch(
        /whenever you like\. Noted: “Mind the gaps”\. Noted: .*You told me: “Mind the gaps”, “{"page":7}”\./,
      )
      expect((await runtime.messages('t')).filter(({ role }) => role === 'user').at(-1)?.parts).toEqual([
        { type: 'text', text: steer },
      ])
    })

    it.each(['question', 'report'])('is steered while only its %s is left', async (left) => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      const told = eventsUntil(runtime, { thread: 't' }, ({ type, data }) => {
        return type === 'progress' && 'note' in data && data.note === '3 of 3 helpers are done'
      })
      if (left === 'report') await answerOnce(runtime, 'A colleague')
      await inQuietTime(here, told)
      await runtime.run({ thread: 't', agent: 'demo', prompt: steer, onBusy: 'steer' })
      if (left === 'question') await answerOnce(runtime, 'A colleague')
      await inQuietTime(here, runtime.wait(id))
      expect(textOf(await logOf(runtime, 't'), id)).toContain('Noted: “Mind the gaps”. ')
      expect((await runtime.list({ thread: 't', type: 'run' })).tasks.map((task) => task.id)).toEqual([id])
    })

    it('goes on by itself when nobody answers', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      const ended = await inQuietTime(here, runtime.wait(id), 1_000)
      expect(ended).toMatchObject({ result: { audience: 'A colleague', answeredBy: 'timeout' } })
    })

    it('ends its helpers and its question with itself when it is cancelled', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      await answerable(runtime)
      const cancelled = await runtime.cancelThread('t')
      expect(cancelled).toHaveLength(4)
      await inQuietTime(here, runtime.wait(id))
      for (const task of cancelled) await inQuietTime(here, runtime.wait(task))
      const { tasks } = await runtime.list({ thread: 't' })
      expect(tasks.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled'])
      expect(await runtime.questions({ thread: 't' })).toEqual([])
      expect((await logOf(runtime, 't')).filter(({ type }) => type === 'question.closed')).toHaveLength(1)
    })

    it('reports without a helper that was cancelled', async () => {
      const here = world()
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input })
      await answerOnce(runtime, 'My manager')
      const { tasks } = await runtime.list({ thread: 't', parent: id })
      await runtime.cancelTree(tasks[0]?.id ?? '')
      const ended = await inQuietTime(here, runtime.wait(id))
      expect(ended).toMatchObject({ status: 'completed', result: { findings: { length: 2 } } })
    })

    it.each([
      [{ subject: 'x' }, 'input', 'its input has no field "subject"'],
      [{ pace: 0 }, 'input.pace', 'pace is a number from 0.1 to 100'],
      [{ pace: 'x' }, 'input.pace', 'pace is a number from 0.1 to 100'],
      [{ topic: ' ' }, 'input.topic', 'topic is a text of 1-200 characters'],
      [{ part: 'moods' }, 'input.part', expect.stringContaining('part is one of')],
      [7, 'input', 'its input is an object'],
    ])('refuses the input %j when it is asked for', async (wrong, path, message) => {
      const runtime = await world().open({ agents })
      for (const asked of [runtime.run, runtime.spawn]) {
        await expect(asked.call(runtime, { thread: 't', agent: 'demo', input: wrong })).rejects.toMatchObject({
          code: 'invalid_input',
          facts: { errors: [{ path, message }] },
        })
      }
      expect((await runtime.list({ thread: 't' })).tasks).toEqual([])
    })

    it('fails in words on a text that is no prompt', async () => {
      const runtime = await world().open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'demo', input: 'x' })
      const message = expect.stringContaining('its input is an object')
      expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { message } })
    })

    it(
      'REST-13 comes out as if its process had not died, wherever it dies',
      async () => {
        const calm = await tell(kind, story, [])
        const count = kind === 'memory' ? 40 : 12
        const places = Array.from({ length: count }, (_, n) => 2 + Math.floor((n * calm.commitCount) / count))
        for (const [index, at] of places.entries()) {
          const fault = index % 2 === 0 ? 'crash_after' : 'crash_before'
          const again = { at: 1 + ((at * 7) % 40), fault } as const
          const crashes = [{ at, fault } as const, ...(index % 3 === 0 ? [again] : [])]
          const played = await tell(kind, story, crashes)
          expect(played.crashCount).toBeGreaterThan(0)
          checkInvariants(played.picture, calm.picture, { isParallel: true }, `${fault} of commit ${at}`)
        }
      },
      crashTestMs,
    )
  })
})

function answerable(runtime: Runtime): Promise<Event[]> {
  return eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'question.asked')
}
