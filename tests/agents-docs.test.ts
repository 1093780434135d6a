import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')

/** Runs the program under a heading of the page on agents, where it finds the packages, and gives what it printed. */
async function printed(heading: string): Promise<string> {
  const page = await readFile(join(root, 'docs/agents.md'), 'utf8')
  const program = new RegExp(`^## ${heading}$.*?^\`\`\`ts\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
  if (program === undefined) throw new Error(`The page has no program under ${heading}`)
  const parent = join(root, '.vitest')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'agents-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const source = program
    .replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`)
    .replaceAll('sqlite:./', `sqlite:${folder}/`)
  await writeFile(join(folder, 'program.ts'), source)
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts')], { cwd: folder })
  return stdout
}

describe('the page on agents', () => {
  it('has a plain function with a schema that runs, and refuses what does not fit', async () => {
    expect(await printed('Plain functions')).toBe("{ word: 'owl', count: 9 }\ninvalid_input input.word\n")
  })

  it('has a generator that speaks', async () => {
    expect(await printed('Generators')).toBe('Owls are birds. \nOwls fly by night. \n')
  })

  it('has a loop with background tools that takes its helper up again', async () => {
    expect((await printed('Background tools')).split('\n')).toEqual([
      "{ task: 'bg_1', status: 'completed', answer: 'The north is quiet' }",
      "{ task: 'bg_2', name: 'scout', isSent: true, continues: 'bg_1' }",
      'bg_1 scout [completed] The north → The north is quiet',
      'bg_2 scout [completed] The north → The south is quiet',
      '',
    ])
  })
})
