import { describe, expect, it } from 'vitest'
import { gate } from '../scenarios/world.ts'
import { severalNodes } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 't'
const agents = { echo: async () => 'done' }

describe('onEnded on several nodes', () => {
  it('is called once for each task, whichever node looks first', async () => {
    const calls: string[] = []
    const onEnded = ({ id }: { readonly id: string }) => void calls.push(id)
    const runtimes = [await nodes.open({ agents, onEnded }), await nodes.open({ agents, onEnded })]
    const spawned = runtimes.flatMap((runtime) =>
      Array.from({ length: 15 }, async (_, n) => {
        const { id } = await runtime.spawn({ thread: `t${n % 7}`, agent: 'echo' })
        await runtime.wait(id)
        return id
      }),
    )
    const ids: string[] = await Promise.all(spawned)
    await expect.poll(() => new Set(calls)).toEqual(new Set(ids))
    // Every node has looked again since: what is owed to nobody is in no answer of the store.
    await expect.poll(() => nodes.schema.query('SELECT FROM holdfast.tasks WHERE hook_at IS NOT NULL')).toEqual([])
    expect(calls.toSorted()).toEqual(ids.toSorted())
  })

  it('is not called by a node that looks while another one calls', async () => {
    const [called, answer] = [gate(), gate()]
    const calls: string[] = []
    const slow = async ({ id }: { readonly id: string }) => {
      calls.push(`one ${id}`)
      called.open()
      await answer.opened
    }
    const one = await nodes.open({ agents, onEnded: slow, isDeaf: true })
    const looked = gate()
    const two = await nodes.open({
      agents,
      isDeaf: true,
      onEnded: ({ id }) => {
        calls.push(`two ${id}`)
        looked.open()
      },
    })
    const first = await one.spawn({ thread, agent: 'echo' })
    await called.opened
    // What it is owed for this it finds with a look that would find the other one as well.
    const second = await two.spawn({ thread: 'other', agent: 'echo' })
    await looked.opened
    answer.open()
    await expect.poll(() => nodes.schema.query('SELECT FROM holdfast.tasks WHERE hook_at IS NOT NULL')).toEqual([])
    expect(calls).toEqual([`one ${first.id}`, `two ${second.id}`])
  })

  it('is called by another node if the one that called closes before it was answered', async () => {
    const called = gate()
    const one = await nodes.open({
      agents,
      onEnded: (_task, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          called.open()
        }),
    })
    const { id } = await one.spawn({ thread, agent: 'echo' })
    await called.opened
    const heard = gate<string>()
    await nodes.open({ agents, isDeaf: true, onEnded: (task) => heard.open(`${task.id}`) })
    await one.close({ drainMs: 0 })
    expect(await heard.opened).toBe(id)
  })
})
