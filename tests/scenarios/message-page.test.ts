import { expect, it } from 'vitest'
import { type Message, type MessagePage, type Runtime, scriptAgent } from '../../src/index.ts'
import { onEachStore, type World } from './world.ts'

const thread = 't'

/** Three runs, so six messages. */
async function conversation(world: World): Promise<Runtime> {
  const runtime = await world.open({ agents: { script: scriptAgent() } })
  for (const prompt of ['one', 'two', 'three']) {
    const { id } = await runtime.run({ thread, agent: 'script', prompt })
    await runtime.wait(id)
  }
  return runtime
}

async function pagesOf(runtime: Runtime, limit: number): Promise<MessagePage[]> {
  const pages: MessagePage[] = []
  for (let after: number | undefined = 0; after !== undefined; after = pages.at(-1)?.cursor) {
    pages.push(await runtime.messagePage(thread, { after, limit }))
  }
  return pages
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it.each([
    [1, [1, 1, 1, 1, 1, 1]],
    [2, [2, 2, 2]],
    [4, [4, 2]],
    [6, [6]],
    [1000, [6]],
  ])('pages of %d hold the whole conversation, and only the last says that it is', async (limit, sizes) => {
    const runtime = await conversation(world())
    const pages = await pagesOf(runtime, limit)
    expect(pages.map(({ messages }) => messages.length)).toEqual(sizes)
    const all: Message[] = pages.flatMap(({ messages }) => messages)
    expect(all).toEqual(await runtime.messages(thread))
    for (const { messages, cursor } of pages.slice(0, -1)) expect(cursor).toBe(messages.at(-1)?.seq)
    expect('cursor' in (pages.at(-1) ?? {})).toBe(false)
  })

  it('a page begins at the first, with a hundred, unless it is told otherwise; of a new thread it is empty', async () => {
    const runtime = await conversation(world())
    expect(await runtime.messagePage(thread)).toEqual({ messages: await runtime.messages(thread) })
    expect(await runtime.messagePage('never-used')).toEqual({ messages: [] })
    expect(await runtime.as('bob').messagePage(thread)).toEqual({ messages: [] })
  })

  it.each([{ limit: 0 }, { limit: 1001 }, { after: Number.NaN }, { after: 0.5 }])(
    'a page of %j is refused',
    async (options) => {
      const runtime = await world().open()
      await expect(runtime.messagePage(thread, options)).rejects.toMatchObject({ code: 'invalid_request' })
    },
  )

  it('a snapshot has a place for questions', async () => {
    const runtime = await world().open()
    expect(await runtime.thread(thread)).toMatchObject({ questions: [] })
  })
})
