import { describe, expect, it } from 'vitest'
import { LiveModels } from '../../../../src/client/live/live-models.ts'
import type { Schedule } from '../../../../src/client/live/schedule.ts'
import type { ManualClock } from '../../../../src/testing/manual-clock.ts'
import { clientWorld } from '../client-world.ts'
import { event } from '../events.ts'

const question = { id: 'q_1', task: 'bg_0', thread: 't', text: 'Which?', at: 1 }
const task = { id: 'bg_0', thread: 't', seq: 1, type: 'run', status: 'pending', attempt: 0, epoch: 0, createdAt: 1 }
const line = { thread: 't', head: 1, first: 1, at: 1 }
const empty = { tasks: [], threads: [], questions: [], agents: [] }
const full = { tasks: [task], threads: [line], questions: [question], agents: [{ name: 'echo' }] }

/** Lists of a server that can be told to fail, and what it has. */
function lists(options: { readonly schedule?: Schedule; readonly pageCount?: number } = {}) {
  let body: object = empty
  let status = 200
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = (input) => {
    asked.push(new URL(input).pathname)
    return Promise.resolve(Response.json(status === 200 ? body : {}, { status }))
  }
  const { client, clock, server } = clientWorld({ fetch, retryForMs: 0 })
  const models = new LiveModels(client, { clock, schedule: queueMicrotask, random: () => 0, ...options })
  const answer = (nextStatus: number, nextBody: object) => {
    status = nextStatus
    body = nextBody
  }
  return { models, clock, server, asked, answer }
}

type Name = 'tasks' | 'threads' | 'questions' | 'agents'

function listOf(models: LiveModels, name: Name) {
  const all = {
    tasks: () => models.taskList({}),
    threads: () => models.threadList(),
    questions: () => models.questionList(),
    agents: () => models.agentList(),
  }
  return all[name]()
}

async function cutOff({ server, clock }: { server: { cut(): void }; clock: ManualClock }): Promise<void> {
  server.cut()
  await clock.advance(200)
}

describe.each(['tasks', 'threads', 'questions', 'agents'] as const)(
  'a list of %s that cannot be read again',
  (name) => {
    it('says so until it can be, and tries after longer and longer', async () => {
      const here = lists()
      const list = listOf(here.models, name)
      list.subscribe(() => {})
      // The connection is there for another list, too.
      here.models.taskList({ thread: 'other' }).subscribe(() => {})
      await here.clock.advance(0)
      expect(list.get()).toMatchObject({ [name]: [], isLoading: false })
      here.answer(500, {})
      await cutOff(here)
      expect(list.get().error).toMatchObject({ code: 'internal_error' })
      const tries = () => here.asked.filter((path) => path === `/v1/${name}`).length
      const before = tries()
      await here.clock.advance(120_000)
      expect(tries() - before).toBeGreaterThan(5)
      expect(tries() - before).toBeLessThan(60)
      here.answer(200, full)
      await here.clock.advance(15_000)
      expect(list.get()).toMatchObject({ [name]: [{}] })
      expect(list.get().error).toBeUndefined()
    })

    it('does not try again what is refused for good', async () => {
      const here = lists()
      const list = listOf(here.models, name)
      here.answer(400, {})
      list.subscribe(() => {})
      await here.clock.advance(0)
      expect(list.get().error).toMatchObject({ code: 'invalid_request' })
      const tries = here.asked.length
      await here.clock.advance(60_000)
      expect(here.asked).toHaveLength(tries)
    })
  },
)

describe.each(['tasks', 'threads'] as const)('more of a list of %s', (name) => {
  it('is there, or known to be refused, only once everybody is told', async () => {
    const frames: (() => void)[] = []
    const here = lists({ pageCount: 1, schedule: (publish) => frames.push(publish) })
    const showFrame = async () => {
      for (const publish of frames.splice(0)) publish()
      await here.clock.advance(0)
    }
    const list = name === 'tasks' ? here.models.taskList({}) : here.models.threadList()
    here.answer(200, { ...full, cursor: 'next' })
    list.subscribe(() => {})
    await here.clock.advance(0)
    await showFrame()
    expect(list.get()).toMatchObject({ hasMore: true, isLoading: false })
    here.answer(400, {})
    let told: unknown = 'nothing yet'
    void list.current?.loadMore().then(() => {
      told = list.get().error?.code
    })
    await here.clock.advance(0)
    expect(told).toBe('nothing yet')
    await showFrame()
    expect(told).toBe('invalid_request')
  })
})

describe('what happens while a list cannot be read', () => {
  it('is shown beside what is wrong', async () => {
    const here = lists()
    const names = ['tasks', 'threads', 'questions'] as const
    const handles = names.map((name) => listOf(here.models, name))
    for (const handle of handles) handle.subscribe(() => {})
    await here.clock.advance(0)
    here.answer(500, {})
    await cutOff(here)
    here.server.append(event('task.accepted', { task } as never, { seq: 1 }))
    here.server.append(event('question.asked', { question } as never, { seq: 2 }))
    await here.clock.advance(0)
    for (const [index, name] of names.entries()) {
      expect(handles[index]?.get()).toMatchObject({ [name]: [{}], error: { code: 'internal_error' } })
    }
  })

  it('is asked for once when the connection is cut again meanwhile', async () => {
    const here = lists()
    const list = here.models.questionList()
    list.subscribe(() => {})
    await here.clock.advance(0)
    here.answer(500, {})
    for (let times = 0; times < 5; times += 1) await cutOff(here)
    const tries = here.asked.length
    here.answer(200, full)
    await here.clock.advance(60_000)
    expect(here.asked.length - tries).toBe(1)
    expect(list.get()).toMatchObject({ questions: [{}] })
  })
})

describe.each(['tasks', 'threads'] as const)('a list of %s', (name) => {
  it('is not read for ever if the server gives the same page again and again', async () => {
    const here = lists({ pageCount: 3 })
    here.answer(200, { ...full, cursor: 'again' })
    const list = listOf(here.models, name)
    list.subscribe(() => {})
    await here.clock.advance(0)
    expect(list.get()).toMatchObject({ [name]: [{}], hasMore: true, isLoading: false })
    expect(here.asked.filter((path) => path === `/v1/${name}`)).toHaveLength(2)
  })
})
