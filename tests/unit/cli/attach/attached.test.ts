import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { Attached } from '../../../../src/cli/attach/attached.ts'
import { secondThoughtMs } from '../../../../src/cli/attach/leaving.ts'
import type { Cli } from '../../../../src/cli/command.ts'
import { createShow } from '../../../../src/cli/show/show.ts'
import type { Surroundings } from '../../../../src/cli/surroundings.ts'
import { createClient } from '../../../../src/client/index.ts'
import { manualClock } from '../../../../src/testing/index.ts'
import { localServer } from '../../../server/harness/local-server.ts'
import { fakeSurroundings } from '../fake-surroundings.ts'

const interrupt = '\u0003'

/** A person at a terminal whose clock stands still, attached to a thread in which a run hangs. */
async function attached() {
  const { runtime, server, run } = await localServer()
  const id = await run('t', [{ say: 'at work' }, { hang: true }])
  const client = createClient({ url: server.url, token: 'secret' })
  onTestFinished(() => client.close())
  const clock = manualClock()
  const input = Object.assign(new PassThrough(), { setRawMode: () => {} })
  const fake = fakeSurroundings({ isTty: true })
  const listeners = new Set<() => void>()
  const heard = (text: string) => {
    fake.written.out += text
    for (const listener of listeners) listener()
  }
  const around: Surroundings = {
    ...fake,
    clock,
    out: heard,
    err: heard,
    input: input as unknown as Surroundings['input'],
  }
  const global = { json: false, quiet: false, color: false }
  const cli: Cli = {
    around,
    global,
    signal: new AbortController().signal,
    client: () => Promise.resolve(client),
    takeNotices: () => {},
    leaves: () => {},
    complain: () => {},
    start: 'holdfast',
    show: createShow(around, global),
  }
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (fake.written.out.includes(text)) resolve()
      }
      listeners.add(look)
      look()
    })
  let code: number | undefined
  const left = new Attached(cli, client, { thread: 't' }).run().then((given) => {
    code = given
  })
  await until('at work')
  return { input, clock, until, left, id, code: () => code, task: () => runtime.get(id), text: () => fake.written.out }
}

it('stays for a second thought after an interrupt, and no longer', async () => {
  const { input, clock, until, left, code, id, task } = await attached()
  input.write(interrupt)
  await until(`Detached; ${id} goes on. Come back: holdfast attach t`)
  await clock.advance(secondThoughtMs - 1)
  expect(code()).toBeUndefined()
  await clock.advance(1)
  await left
  expect(code()).toBe(0)
  expect((await task())?.status).toBe('running')
})

it('asks at an interrupt in the last moment of it, and then waits for the answer', async () => {
  const { input, clock, until, left, code, id, task } = await attached()
  input.write(interrupt)
  await until('Detached')
  await clock.advance(secondThoughtMs - 1)
  input.write(interrupt)
  await until(`Cancel ${id} and all under it? (y/N) `)
  await clock.advance(secondThoughtMs * 10)
  expect(code()).toBeUndefined()
  input.write('y')
  await left
  expect((await task())?.cancelRequestedAt).toBeGreaterThan(0)
})

it('draws nothing any more once it is detached', async () => {
  const { input, clock, until, left, text } = await attached()
  input.write(interrupt)
  await until('any other key leaves at once\n')
  const before = text()
  await clock.advance(1000)
  input.write('x')
  await left
  expect(text()).toBe(before)
})
