import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

/** The TypeScript programs in a page, or in a part of one. */
export function programsIn(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
}

/** The first program under a heading of a page. */
export function programUnder(heading: string, text: string): string {
  const section = new RegExp(`^## ${heading}$(.*?)(?:^## |$(?![^]))`, 'ms').exec(text)?.[1] ?? ''
  const [program] = programsIn(section)
  if (program === undefined) throw new Error(`The page has no program under ${heading}`)
  return program
}

/** A program with the sources of this repository in the place of the package. */
export function fromSources(program: string): string {
  return program.replaceAll(/from 'holdfast(\/[\w-]+)?'/g, (_import, subpath: string = '') => {
    return `from '${join(root, 'src', subpath, 'index.ts')}'`
  })
}

/** Runs a program to its end, in a folder of its own from which it finds the packages it needs, and gives what it printed. */
export async function printedBy(program: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const parent = join(root, '.vitest')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'docs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'program.ts')
  await writeFile(file, fromSources(program))
  const { stdout } = await run(process.execPath, [file], { cwd: folder, env: { ...process.env, ...env } })
  return stdout
}
