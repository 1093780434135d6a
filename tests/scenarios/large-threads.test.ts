import { expect, it, onTestFinished } from 'vitest'
import type { Runtime, Task } from '../../src/index.ts'
import { isHoldfastError, serve } from '../../src/index.ts'
import { onEachStore } from './world.ts'

// Two of them are within the 16 MiB that an answer shows, and three are not.
const large = 'x'.repeat(6_000_000)
const agents = { large: () => large, silent: () => undefined }

/** The ids of tasks that ended one after the other, each with a large result. */
async function results(runtime: Runtime, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    const { id } = await runtime.spawn({ thread: 't', agent: 'large', input: n })
    await runtime.wait(id)
    ids.push(id)
  }
  return ids
}

/** Three large messages. */
async function conversation(runtime: Runtime): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    const { id } = await runtime.run({ thread: 't', agent: 'silent', prompt: large })
    await runtime.wait(id)
  }
}

/** Asks a server of the runtime, which must answer with 200. */
async function overHttp(runtime: Runtime): Promise<(path: string) => Promise<unknown>> {
  const server = await serve(runtime, { port: 0, tokens: { owner: 'secret' }, handlesSignals: false })
  onTestFinished(() => server.close())
  return async (path) => {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: 'Bearer secret' } })
    expect(answer.status).toBe(200)
    return answer.json()
  }
}

/** For each task the field that is there. */
function fieldsOf(tasks: readonly object[], ...fields: readonly string[]): unknown[] {
  return tasks.map((task) => fields.filter((field) => field in task).join())
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a snapshot has the results of the tasks that ended last, and says which it leaves out', async () => {
    const runtime = await world().open({ agents })
    const ids = await results(runtime, 4)
    const snapshot = await runtime.thread('t')
    expect(snapshot.tasks.map(({ id }) => id)).toEqual(ids)
    const fields = fieldsOf(snapshot.tasks, 'result', 'resultOmitted', 'inputOmitted')
    expect(fields).toEqual(['resultOmitted', 'resultOmitted', 'result', 'result'])
    expect(snapshot.tasks.map(({ input }) => input)).toEqual([0, 1, 2, 3])
    for (const id of ids) expect((await runtime.get(id))?.result).toBe(large)
    const get = await overHttp(runtime)
    const { tasks } = (await get('/v1/threads/t')) as { tasks: Task[] }
    expect(tasks).toEqual(snapshot.tasks)
  })

  it('a list of tasks has shorter pages where results are large, and all of them in the end', async () => {
    const runtime = await world().open({ agents })
    const ids = await results(runtime, 5)
    const get = await overHttp(runtime)
    const pages: string[][] = []
    for (let query = ''; ; ) {
      const page = (await get(`/v1/tasks?thread=t&limit=100${query}`)) as { tasks: Task[]; cursor?: string }
      for (const task of page.tasks) expect(task.result).toBe(large)
      pages.push(page.tasks.map(({ id }) => id))
      if (page.cursor === undefined) break
      query = `&cursor=${page.cursor}`
    }
    const newest = ids.toReversed()
    expect(pages).toEqual([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)])
  })

  it('results are shown from the oldest on as far as they fit, and the others once those are taken', async () => {
    const runtime = await world().open({ agents })
    const ids = await results(runtime, 4)
    const get = await overHttp(runtime)
    const read = async () => (await get('/v1/threads/t/results')) as Awaited<ReturnType<Runtime['results']>>
    const shown = await read()
    expect(shown).toEqual(await runtime.results('t'))
    expect(shown.results.map(({ task }) => task)).toEqual(ids)
    expect(fieldsOf(shown.results, 'answer', 'answerOmitted')).toEqual([
      'answer',
      'answer',
      'answerOmitted',
      'answerOmitted',
    ])
    await runtime.collect('t', ids.slice(0, 2))
    expect(fieldsOf((await read()).results, 'answer', 'answerOmitted')).toEqual(['answer', 'answer'])
  })

  it('a snapshot has the last messages that fit, and pages of messages have them all', async () => {
    const runtime = await world().open({ agents, limits: { bodyBytes: 8 * 1024 * 1024 } })
    await conversation(runtime)
    const get = await overHttp(runtime)
    const { messages } = (await get('/v1/threads/t')) as { messages: { seq: number }[] }
    const all = await runtime.messages('t')
    expect(messages.map(({ seq }) => seq)).toEqual(all.slice(1).map(({ seq }) => seq))
    type Page = { messages: { seq: number }[]; cursor?: number }
    const first = (await get('/v1/threads/t/messages')) as Page
    const second = (await get(`/v1/threads/t/messages?after=${first.cursor}`)) as Page
    expect([...first.messages, ...second.messages]).toEqual(all)
    expect([first.messages.length, second.cursor]).toEqual([2, undefined])
  })

  it('a task that a snapshot shows without its result is not restored without it', async () => {
    const runtime = await world().open({ agents })
    await results(runtime, 3)
    const [first] = (await runtime.thread('t')).tasks
    if (!first) throw new Error('There are tasks')
    const refusal = await runtime.restore([{ ...first, id: 'other' as Task['id'] }]).catch((error: unknown) => error)
    expect(isHoldfastError(refusal, 'invalid_request')).toBe(true)
  })
})
