import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { manifest } from './packed.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')

describe.each(['SECURITY.md', 'docs/threat-model.md'])('%s', (page) => {
  const text = read(page)

  it('names sources, tests and commands that exist', () => {
    const named = [...text.matchAll(/`((?:src|tests|scripts|console)\/[^`]+)`/g)].flatMap(([, path]) => path ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('links only to pages and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#([^)]*))?\)/g)]
    expect(links.length).toBeGreaterThan(1)
    for (const [, target = '', heading] of links) {
      const path = join(root, dirname(page), target)
      expect(existsSync(path), target).toBe(true)
      if (heading !== undefined) expect(headingsOf(readFileSync(path, 'utf8'))).toContain(heading)
    }
  })
})

describe('the threat model', () => {
  const rows = read('docs/threat-model.md')
    .split('\n')
    .filter((line) => /^\| \*\*|^\| whoever/.test(line))

  it('says of every actor what stops it, where a test shows it, and what is left', () => {
    expect(rows.length).toBeGreaterThan(10)
    for (const row of rows) {
      const [actor, , stops, shown, left, ...more] = row.split(' | ')
      expect([more, stops, shown], actor).toEqual([
        [],
        expect.stringMatching(/`(src|scripts)\//),
        expect.stringMatching(/`tests\//),
      ])
      expect(left, actor).toMatch(/\S/)
    }
  })
})

describe('the security policy', () => {
  it('supports the version that is published', () => {
    const [major, minor] = manifest.version.split('.')
    expect(read('SECURITY.md')).toContain(`| ${major}.${minor} | yes |`)
  })

  it('names nobody and no address, since the place to report is the repository', () => {
    expect(read('SECURITY.md')).not.toMatch(/@|https?:/)
  })
})

function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}
