import { execFile } from 'node:child_process'
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { errorCodes, taskErrorCodes } from '../src/core/errors.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')

async function pages(): Promise<string[]> {
  const docs = await readdir(join(root, 'docs'), { recursive: true })
  return [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
  ]
}

/** The TypeScript blocks of a page that are whole programs: those that import something. */
async function programs(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
  return blocks.filter((block) => block.includes('import '))
}

async function runProgram(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-docs-'))
  try {
    const source = program
      .replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`)
      .replaceAll('sqlite:./', `sqlite:${folder}/`)
    const file = join(folder, 'program.ts')
    await writeFile(file, source)
    const { stdout } = await run(process.execPath, [file], { cwd: folder })
    return stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A program that serves until it is told to stop; `tests/server/readme.test.ts` starts it. */
function isServer(program: string): boolean {
  return program.includes('await serve(createRuntime(')
}

describe('documentation', () => {
  it('has programs in the README that run to their end, and whose tasks complete', async () => {
    const found = (await programs('README.md')).filter((program) => !isServer(program))
    expect(found.length).toBe(3)
    for (const program of found) {
      const output = await runProgram(program)
      // Its agent spoke, and its task completed: as events, or as a status and two messages.
      expect(output).toMatch(/text\.delta\n(.*\n)*.*task\.completed|^completed 2 /m)
    }
  })

  it('has programs on people in the loop that say what the page says', async () => {
    const outputs = await Promise.all((await programs('docs/human-in-the-loop.md')).map(runProgram))
    expect(outputs).toEqual(['Deployed\n', 'yes, said timeout; nobody said that the backups may go\n'])
  })

  it('has a program on retention that keeps what the page says', async () => {
    const [output] = await Promise.all((await programs('docs/retention.md')).map(runProgram))
    const [, first, head] = /^6 messages, and events from (\d+) to (\d+)\n$/.exec(output ?? '') ?? []
    const kept = Number(head) - Number(first) + 1
    expect(kept).toBeGreaterThanOrEqual(5)
    expect(kept).toBeLessThan(Number(head))
  })

  it('links only to pages that exist', async () => {
    for (const page of await pages()) {
      const text = await readFile(join(root, page), 'utf8')
      for (const [, target] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
        const file = join(root, dirname(page), target as string)
        await expect(access(file), `${page} links to ${target}`).resolves.toBeUndefined()
      }
    }
  })

  it('explains every error code once', async () => {
    const text = await readFile(join(root, 'docs/errors.md'), 'utf8')
    const headings = [...text.matchAll(/^### (\S+)$/gm)].map((match) => match[1])
    expect(headings.toSorted()).toEqual([...new Set([...errorCodes, ...taskErrorCodes])].toSorted())
  })

  it('names tests in the guarantees that exist', async () => {
    const text = await readFile(join(root, 'docs/guarantees.md'), 'utf8')
    const named = [...text.matchAll(/`(tests\/[^`]+)`/g)].flatMap((match) => match[1] ?? [])
    expect(named.length).toBeGreaterThan(10)
    for (const file of named) await expect(access(join(root, file)), file).resolves.toBeUndefined()
  })
})
