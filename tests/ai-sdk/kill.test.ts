import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { stepsSoFar, type Turn } from '../model-server/script.ts'
import type { AgentLine, AgentProcessOptions } from './agent-process.ts'
import { modelServer } from './with-model.ts'

const program = fileURLToPath(new URL('agent-process.ts', import.meta.url))
const killTestMs = 60_000

let folder = ''
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-kill-'))
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** One life of the process: to its end, or until it is killed, at a line or when something has happened. */
async function live(options: AgentProcessOptions, death: Death = {}): Promise<AgentLine[]> {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const gone = once(child, 'exit')
  void death.when?.then(() => child.kill('SIGKILL'))
  const lines: AgentLine[] = []
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as AgentLine
    lines.push(line)
    if (death.at?.(line)) child.kill('SIGKILL')
  }
  await gone
  return lines
}

interface Death {
  readonly when?: Promise<unknown>
  readonly at?: (line: AgentLine) => boolean
}

function executedIn(lines: readonly AgentLine[]): string[] {
  return lines.flatMap((line) => (line.kind === 'executed' ? [line.key] : []))
}

const turns: readonly Turn[] = [
  { text: ['Let ', 'me ', 'see. '], calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
  { text: ['And ', 'Rome? '], calls: [{ name: 'weather', input: { city: 'Rome' } }] },
  { text: ['Go ', 'to ', 'Rome.'] },
]

describe('sqlite', () => {
  it(
    'REST-13 a process killed in streams and tools goes on: what is recorded is neither asked for nor executed again',
    async () => {
      // The first request of each step is held in the middle of its stream, so the process dies there for certain.
      const server = await modelServer((request) => {
        const step = stepsSoFar(request)
        const isFirst = server.requests.filter((other) => stepsSoFar(other) === step).length === 1
        return { ...turns[step], ...(isFirst && { holdAfter: 2 }) }
      })
      const store = `sqlite:${join(folder, 'store.db')}`
      const options = { store, modelUrl: server.url }
      const killedInStream = async () => {
        const left = server.left()
        const lines = await live(options, { when: server.held() })
        await left
        return lines
      }
      const lives = [
        await killedInStream(),
        await killedInStream(),
        await live(options, { at: () => true }),
        await live({ ...options, isToolHanging: true }, { at: (line) => line.kind === 'executed' }),
        await killedInStream(),
        await live(options),
      ]
      expect(lives.at(-1)?.at(-1)).toEqual({ kind: 'ended', status: 'completed', result: 'Go to Rome.' })
      expect(server.requests.map(stepsSoFar)).toEqual([0, 0, 1, 1, 2, 2])
      const keys = ['weather', 'weather#2', 'weather#2'].map((key) => expect.stringMatching(new RegExp(`:${key}$`)))
      expect(executedIn(lives.flat())).toEqual(keys)
      const runtime = createRuntime({ store })
      const { messages } = await runtime.thread('t')
      await runtime.close()
      expect(messages.at(-1)?.parts.map((part) => (part.type === 'text' ? part.text : part.type))).toEqual([
        'Let me see. ',
        'tool',
        'And Rome? ',
        'tool',
        'Go to Rome.',
      ])
    },
    killTestMs,
  )
})
