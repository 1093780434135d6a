// A program of the command line as an agent of Holdfast: it is given the prompt on its standard input, what it prints is streamed, and
// a cancel ends it with all the processes it started.
//
//   COMMAND='npm test' npx holdfast serve --config examples/child-process.ts
//
// A program cannot go on in the middle. So the agent says that it is not resumable: if the server dies, the task fails as `orphaned`
// instead of starting the program a second time. The program itself lives on then, until it notices that nobody reads its output.
// Whoever may run tasks chooses the prompt, never the command.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { AgentContext } from 'holdfast'

const { COMMAND = 'cat' } = process.env

// Less than the grace time of a cancel, which is 5 s.
const killAfterMs = 2000

async function program(ctx: AgentContext, prompt: string): Promise<{ code: number }> {
  // A process group of its own: a signal to it reaches the shell and whatever the shell has started.
  const child = spawn(COMMAND, { shell: true, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const closed = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>
  const stop = () => {
    signalGroup(child.pid, 'SIGTERM')
    const killing = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), killAfterMs)
    closed.finally(() => clearTimeout(killing)).catch(() => {})
  }
  ctx.signal.addEventListener('abort', stop, { once: true })
  try {
    if (ctx.signal.aborted) stop()
    // A program that does not read its input is no error.
    child.stdin.on('error', () => {})
    child.stdin.end(prompt)
    await Promise.all([
      forEachText(child.stdout, (text) => ctx.say(text)),
      forEachText(child.stderr, (text) => ctx.emit('stderr', { text })),
    ])
    const [code, signal] = await closed
    ctx.signal.throwIfAborted()
    if (code !== 0) throw new Error(`The program ended with ${code ?? signal}`)
    return { code }
  } finally {
    ctx.signal.removeEventListener('abort', stop)
    // It may have left processes behind, or the task may have failed in the middle.
    signalGroup(child.pid, 'SIGKILL')
  }
}

/** Reads no faster than what was read finds room. */
async function forEachText(stream: Readable, take: (text: string) => Promise<void>): Promise<void> {
  for await (const text of stream.setEncoding('utf8')) await take(text as string)
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // There is nobody left in the group.
  }
}

export default { agents: { program: { run: program, isResumable: false, description: `Runs ${COMMAND}` } } }
