import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCodes, taskErrorCodes } from '../src/core/errors.ts'
import { printedBy, programsIn } from './docs-program.ts'

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

/** The programs of a page that are whole: those that import something, but for config files. */
async function programs(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  return programsIn(text).filter((program) => /^import \S/m.test(program) && !program.includes('satisfies Config'))
}

describe('documentation', () => {
  it('has programs on the library that run to their end, and whose tasks complete', async () => {
    const found = await programs('docs/library.md')
    expect(found.length).toBe(3)
    for (const program of found) {
      const output = await printedBy(program)
      // Its agent spoke, and its task completed: as events, or as a status and two messages.
      expect(output).toMatch(/text\.delta\n(.*\n)*.*task\.completed|^completed 2 /m)
    }
  })

  it('has programs on people in the loop that say what the page says', async () => {
    const outputs = await Promise.all(
      (await programs('docs/human-in-the-loop.md')).map((program) => printedBy(program)),
    )
    expect(outputs).toEqual(['Deployed\n', 'yes, said timeout; nobody said that the backups may go\n'])
  })

  it('has a program on retention that keeps what the page says', async () => {
    const [output] = await Promise.all((await programs('docs/retention.md')).map((program) => printedBy(program)))
    const [, first, head] = /^6 messages, and events from (\d+) to (\d+)\n$/.exec(output ?? '') ?? []
    const kept = Number(head) - Number(first) + 1
    expect(kept).toBeGreaterThanOrEqual(5)
    expect(kept).toBeLessThan(Number(head))
  })

  it('links only to pages that exist', async () => {
    for (const page of await pages()) {
      const text = await readFile(join(root, page), 'utf8')
      for (const [, link, picture] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)|(?:src|srcset)="([^":]+)"/g)) {
        const target = link ?? picture ?? ''
        const file = join(root, dirname(page), target)
        await expect(access(file), `${page} links to ${target}`).resolves.toBeUndefined()
      }
    }
  })

  it('explains every error code once', async () => {
    const text = await readFile(join(root, 'docs/errors.md'), 'utf8')
    const headings = [...text.matchAll(/^### (\S+)$/gm)].map((match) => match[1])
    expect(headings.toSorted()).toEqual([...new Set([...errorCodes, ...taskErrorCodes])].toSorted())
  })

  it('names sources and tests in the guarantees that exist', async () => {
    const text = await readFile(join(root, 'docs/guarantees.md'), 'utf8')
    const named = [...text.matchAll(/`((?:src|tests)\/[^`]+)`/g)].flatMap((match) => match[1] ?? [])
    expect(named.length).toBeGreaterThan(10)
    for (const file of named) await expect(access(join(root, file)), file).resolves.toBeUndefined()
  })

  it('has a place and a test for every guarantee, with the rules and scenarios that it cites of them', async () => {
    const text = await readFile(join(root, 'docs/guarantees.md'), 'utf8')
    const rows = text.split('\n').filter((line) => /^\| [^|]/.test(line) && !line.includes('| enforced in |'))
    expect(rows.length).toBeGreaterThan(19)
    for (const row of rows) {
      const [, name, , places = '', tests = ''] = row.split('|')
      expect(places, name).toMatch(/`src\//)
      expect(tests, name).toMatch(/`(tests|src\/testing\/store-suite)\//)
      for (const [, file = '', cited = ''] of row.matchAll(/`((?:src|tests)\/[^`]+)` \(([^)`]+)\)/g)) {
        const source = await readFile(join(root, file), 'utf8')
        for (const [id] of cited.matchAll(/[A-Z]+-\d+|[A-Z]\d+/g)) expect(source, `${id} of ${file}`).toMatch(id)
      }
    }
  })

  it('has a reason for every dependency', async () => {
    const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, object>
    const names = Object.keys({ ...manifest['dependencies'], ...manifest['devDependencies'] })
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})
