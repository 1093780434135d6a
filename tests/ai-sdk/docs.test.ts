import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { turns } from '../model-server/script.ts'
import { modelServer } from './with-model.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

async function programs(): Promise<string[]> {
  const text = await readFile(join(root, 'docs/agents.md'), 'utf8')
  const section = text.slice(text.indexOf('## AI SDK')).split(/\n## (?!AI SDK)/)[0] ?? ''
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
}

/** Runs a program where it finds the packages, against a model of our own. */
async function runProgram(program: string, modelUrl: string): Promise<string> {
  const parent = join(root, '.vitest')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'docs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const source = program
    .replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`)
    .replaceAll("from 'holdfast/ai-sdk'", `from '${join(root, 'src/ai-sdk/index.ts')}'`)
  const file = join(folder, 'program.ts')
  await writeFile(file, source)
  const env = { ...process.env, OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: 'test' }
  const { stdout } = await run(process.execPath, [file], { cwd: folder, env })
  return stdout
}

describe('the page on agents', () => {
  it('has programs for the AI SDK that run', async () => {
    const server = await modelServer(
      turns({ calls: [{ name: 'weather', input: { city: 'Oslo' } }] }, { text: ['Yes, ', 'it rains.'] }),
    )
    const [first = '', tool = '', background = ''] = await programs()
    expect(await runProgram(first, server.url)).toBe('Yes, it rains.\n Yes, it rains.\n')
    expect(server.requests[1]?.messages.at(-1)?.text).toBe('It rains in Oslo')
    expect(await runProgram(tool, server.url)).toBe('')
    server.script = turns({ text: 'Go to Rome.' })
    expect(await runProgram(background, server.url)).toBe('Go to Rome.\n')
    expect(server.requests.at(-1)?.tools).toContain('spawn_task')
  })
})
