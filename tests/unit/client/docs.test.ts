import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)

async function programs(): Promise<string[]> {
  const text = await readFile(join(root, 'docs/client.md'), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
}

/** What a program prints, one line each. */
async function outputOf(program: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-docs-'))
  try {
    const source = program
      .replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`)
      .replaceAll("from 'holdfast/client'", `from '${join(root, 'src/client/index.ts')}'`)
    const file = join(folder, 'program.ts')
    await writeFile(file, source)
    const { stdout } = await run(process.execPath, [file], { cwd: folder })
    return stdout.trim().split('\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

it('the programs of the page on the client run to their end and print what they say', async () => {
  const [first = '', typed = '', refused = '', view = '', ...rest] = await programs()
  expect(rest).toEqual([])
  expect(await outputOf(first)).toEqual(['hello', 'hello'])
  expect(await outputOf(typed)).toEqual(['https://example.com/kelp', '1'])
  expect(await outputOf(refused)).toEqual(['no server there'])
  const printed = await outputOf(view)
  expect(printed).toContain('live')
  expect(printed.at(-2)).toBe("[ { type: 'text', text: 'hello' } ]")
  expect(printed.at(-1)).toBe('offline')
}, 60_000)
