import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { packedProblems } from '../../scripts/supply-chain/packed-files.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { describeFirstHour } from './first-hour.ts'
import { manifest, Packed } from './packed.ts'

const program = `
import { createRuntime, echoAgent, serve } from 'holdfast'
import { createClient } from 'holdfast/client'

const agents = { echo: echoAgent() }
const runtime = createRuntime({ store: 'sqlite:./holdfast.db', agents })
const server = await serve(runtime, { port: 0, tokens: { owner: 'secret' }, handlesSignals: false })
const client = createClient<typeof agents>({ url: server.url, token: 'secret' })
const run = await client.run('t', { agent: 'echo', prompt: 'hello' })
const ended = await client.wait(run)
console.log(ended.status, JSON.stringify(ended.result))
client.close()
await server.close()
`

const types = `
import { createRuntime, type AgentContext, type Task } from 'holdfast'
import { createClient, type ThreadView } from 'holdfast/client'
import { HoldfastProvider, useThread, type UseThreadResult } from 'holdfast/react'
import { manualClock } from 'holdfast/testing'
import { createElement } from 'react'

const agents = { adder: async (_ctx: AgentContext, { a, b }: { a: number; b: number }) => a + b }
export const runtime = createRuntime({ store: 'memory:', agents })
const client = createClient<typeof agents>({ url: 'http://127.0.0.1:1', token: 't' })
export async function sum(): Promise<number | undefined> {
  const run = await client.run('t', { agent: 'adder', input: { a: 1, b: 2 } })
  // @ts-expect-error There is no such agent.
  await client.run('t', { agent: 'subtracter', input: { a: 1, b: 2 } })
  // @ts-expect-error It wants two numbers.
  await client.run('t', { agent: 'adder', input: { a: '1' } })
  return (await client.wait(run)).result
}
export const clock = manualClock(0)
export type Both = Task | ThreadView
export const useDemo = (): UseThreadResult => useThread('demo', { agent: 'adder' })
export const page = createElement(HoldfastProvider<typeof agents>, { client })
`

describe('the package as it is published', () => {
  const packed = new Packed()
  // A whole build, on a machine that may be busy.
  beforeAll(() => packed.install(), 300_000)
  afterAll(() => packed.remove())
  describeFirstHour(packed)

  it('holds what is compiled and what is read, and no sources, tests or settings', () => {
    expect(packedProblems(packed.files)).toEqual([])
  })

  it('runs in a project of its own as ES modules', () => {
    packed.write('program.ts', program)
    expect(packed.run('node', ['program.ts'])).toBe('completed "hello"\n')
  })

  it('has something behind each of its subpaths', () => {
    const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json')
    expect(subpaths).toContain('.')
    const names = subpaths.map((path) => path.replace('.', 'holdfast'))
    packed.write(
      'subpaths.ts',
      names.map((name) => `console.log(Object.keys(await import('${name}')).length > 0)`).join('\n'),
    )
    expect(packed.run('node', ['subpaths.ts'])).toBe('true\n'.repeat(names.length))
  })

  it.each(['nodenext', 'bundler'])('gives its types to a project that resolves modules as %s', (resolution) => {
    packed.write('types.ts', types)
    const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2024',
      module,
      moduleResolution: resolution,
      types: ['node'],
    }
    packed.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['types.ts'] }))
    expect(packed.run('tsc', ['-p', '.'])).toBe('')
  })

  it('brings a command that serves', async () => {
    const server = new OwnedProcess({
      arguments: [join(packed.folder, 'node_modules/holdfast/bin/holdfast.js'), 'serve', '--port', '0'],
      env: { HOME: packed.folder },
      folder: packed.folder,
    })
    onTestFinished(async () => void (await server.end('SIGKILL')))
    await server.line(/^holdfast listening on http:\S+$/)
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  it('gives a browser a client of one file that needs nothing of Node', async () => {
    packed.write('page.js', "export { createClient } from 'holdfast/client'\n")
    await build({
      root: packed.folder,
      configFile: false,
      logLevel: 'silent',
      build: { outDir: 'page', lib: { entry: 'page.js', formats: ['es'], fileName: 'page' } },
    })
    const code = readFileSync(join(packed.folder, 'page/page.js'), 'utf8')
    expect(code).toContain('createClient')
    expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*["'(]|node:|\bprocess\.|\bBuffer\b/)
  })
})
