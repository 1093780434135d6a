import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'

const source = resolve(import.meta.dirname, '../../src/index.ts')

/** Serves one run that ends when a line is written to its input. */
const program = `
import { once } from 'node:events'
import { createRuntime, serve } from '${source}'
const agents = { held: { run: () => once(process.stdin, 'data') } }
const runtime = createRuntime({ store: 'memory:', agents })
const server = await serve(runtime, { port: 0, tokens: { owner: 'secret' } })
await runtime.run({ thread: 't', agent: 'held', prompt: 'wait' })
console.log(server.url)
`

async function started(): Promise<{ child: ChildProcess; url: string; exited: Promise<number | null> }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-signals-'))
  const file = join(folder, 'program.ts')
  await writeFile(file, program)
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true, force: true })
  })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, url, exited }
}

async function untilDraining(url: string): Promise<void> {
  while ((await fetch(`${url}/readyz`)).status === 200);
}

describe('a process that serves', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'drains on %s, and exits with 0 when its tasks have ended',
    async (signal) => {
      const { child, url, exited } = await started()
      const stream = await fetch(`${url}/v1/threads/t/events`, {
        headers: { authorization: 'Bearer secret', accept: 'text/event-stream' },
      })
      child.kill(signal)
      await untilDraining(url)
      expect(await stream.text()).toContain('task.started')
      child.stdin?.write('go on\n')
      expect(await exited).toBe(0)
    },
  )

  it('exits with 1 at once on a second signal', async () => {
    const { child, url, exited } = await started()
    child.kill('SIGTERM')
    await untilDraining(url)
    child.kill('SIGINT')
    expect(await exited).toBe(1)
  })
})
