import { describe, expect, it, onTestFinished } from 'vitest'
import { isEndOf } from '../server/harness/client.ts'
import { until } from '../server/harness/local-server.ts'
import { serveExample, textOf } from './example-server.ts'

// Starts a child in the background and tells the numbers of both; the child ignores the polite signal.
const stubborn = `sh -c 'trap "" TERM; while :; do sleep 1; done' & echo "child $!"; echo "shell $$"; wait`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('the example child-process.ts', () => {
  it('gives the program the prompt, streams what it prints, and ends with its code', async () => {
    const command = 'echo one; tr a-z A-Z; echo oops >&2'
    const server = await serveExample('child-process.ts', { COMMAND: command })
    const run = await server.run('program', 'two')
    expect(await server.ended(run.id)).toMatchObject({ status: 'completed', result: { code: 0 } })
    const events = await server.log(run.id)
    expect(textOf(events)).toBe('one\nTWO')
    expect(events.flatMap((event) => (event.type === 'custom' ? event.data : []))).toEqual([
      { name: 'stderr', payload: { text: 'oops\n' } },
    ])
  })

  it('fails with the code of a program that fails, and keeps what it printed', async () => {
    const server = await serveExample('child-process.ts', { COMMAND: 'echo half; exit 3' })
    const run = await server.run('program', '')
    expect(await server.ended(run.id)).toMatchObject({
      status: 'failed',
      partial: true,
      error: { code: 'agent_error', message: 'The program ended with 3' },
    })
  })

  it('ends the program with its whole group when it is cancelled', async () => {
    const server = await serveExample('child-process.ts', { COMMAND: stubborn })
    const run = await server.run('program', '')
    const watcher = await server.watch(run.id)
    await watcher.until(({ type, data }) => type === 'text.delta' && JSON.stringify(data).includes('shell'))
    const pids = [...textOf(await server.log(run.id)).matchAll(/\d+/g)].map(Number)
    onTestFinished(() => {
      for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
    })
    expect(pids.map(isAlive)).toEqual([true, true])
    await server.cancel(run.id)
    await watcher.until(isEndOf(run.id))
    expect(await server.ended(run.id)).toMatchObject({ status: 'cancelled', partial: true })
    expect((await server.log(run.id)).at(-1)?.data).not.toHaveProperty('forced')
    await until(() => !pids.some(isAlive))
  })

  it('is not started a second time after kill -9: its task is orphaned', async () => {
    const server = await serveExample('child-process.ts', { COMMAND: 'echo "shell $$"; exec sleep 1000' })
    const run = await server.run('program', '')
    const watcher = await server.watch(run.id)
    await watcher.until(({ type }) => type === 'text.delta')
    const pid = Number(/\d+/.exec(textOf(await server.log(run.id)))?.[0])
    onTestFinished(() => void process.kill(pid, 'SIGKILL'))
    await server.restart()
    expect(await server.ended(run.id)).toMatchObject({
      status: 'failed',
      partial: true,
      attempt: 1,
      error: { code: 'orphaned' },
    })
  })
})
