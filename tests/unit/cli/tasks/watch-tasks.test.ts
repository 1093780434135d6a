import { describe, expect, it } from 'vitest'
import type { Cli } from '../../../../src/cli/command.ts'
import { createShow } from '../../../../src/cli/show/show.ts'
import { watchTasks } from '../../../../src/cli/tasks/watch-tasks.ts'
import { type Client, HoldfastError, type Task } from '../../../../src/client/index.ts'
import { type FakeOptions, fakeSurroundings } from '../fake-surroundings.ts'

const plain = { json: false, quiet: false, color: false }

/** A client whose firehose a test fills, and which is open from the beginning. */
function fakeClient(events: ReadableStream<unknown>): Client {
  const firehose: Client['firehose'] = ({ onOpen } = {}) => {
    onOpen?.()
    return events.values() as ReturnType<Client['firehose']>
  }
  return { firehose } as unknown as Client
}

/** Watches lists that come one after the other; what is a text is refused with that code. */
function watch(lists: readonly (readonly string[] | 'unreachable' | 'unauthenticated')[], options: FakeOptions = {}) {
  const setTimer = (_ms: number, fire: () => void) => {
    setImmediate(fire)
    return { cancel: () => {} }
  }
  const around = { ...fakeSurroundings(options), clock: { now: () => 0, setTimer } }
  const cli = { around, global: plain, show: createShow(around, plain), signal: new AbortController().signal }
  let count = 0
  const list = async (): Promise<readonly Task[]> => {
    const next = lists[count]
    count += 1
    if (next === undefined) throw new Error('One list too many was asked for')
    if (typeof next === 'string') throw new HoldfastError(next, 'x')
    return next.map((id) => ({ id }) as Task)
  }
  let fill: ReadableStreamDefaultController<unknown> | undefined
  const events = new ReadableStream<unknown>({
    start(controller) {
      fill = controller
    },
  })
  const ended = watchTasks(cli as unknown as Cli, fakeClient(events), list, (tasks, show) => {
    for (const { id } of tasks) show.line(id)
  })
  return {
    ended,
    event: () => fill?.enqueue({}),
    end: () => fill?.close(),
    out: () => around.written.out,
    count: () => count,
  }
}

/** Lets everything happen that is due. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('watching tasks', () => {
  it('shows one list after the other on a terminal that cannot draw in place', async () => {
    const watched = watch([['a'], ['a', 'b']], { isTty: true, env: { TERM: 'dumb' } })
    await settled()
    watched.event()
    await settled()
    watched.end()
    await watched.ended
    expect(watched.out()).toBe('a\n\na\nb\n')
  })

  it('lists again after an event, and shows what differs from the last', async () => {
    const watched = watch([['a'], ['a'], ['a', 'b']])
    await settled()
    watched.event()
    await settled()
    watched.event()
    await settled()
    watched.end()
    await watched.ended
    expect(watched.out()).toBe('a\n\na\nb\n')
  })

  it('makes one list of a storm of events', async () => {
    const watched = watch([['a'], ['b']])
    await settled()
    for (let n = 0; n < 100; n += 1) watched.event()
    await settled()
    expect(watched.count()).toBe(2)
    watched.end()
    await watched.ended
  })

  it('keeps the last list while the server is away', async () => {
    const watched = watch([['a'], 'unreachable', ['b']])
    await settled()
    watched.event()
    await settled()
    expect(watched.out()).toBe('a\n')
    watched.event()
    await settled()
    watched.end()
    await watched.ended
    expect(watched.out()).toBe('a\n\nb\n')
  })

  it('ends with what is refused for good', async () => {
    await expect(watch(['unauthenticated']).ended).rejects.toThrow('x')
  })
})
