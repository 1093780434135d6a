import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { printedBy, programsIn } from '../../docs-program.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/client.md'), 'utf8')

/** What a program prints, one line each. */
async function outputOf(program: string): Promise<string[]> {
  return (await printedBy(program)).trim().split('\n')
}

it('the programs of the page on the client run to their end and print what they say', async () => {
  const [first = '', typed = '', refused = '', view = '', ...rest] = programsIn(page)
  expect(rest).toEqual([])
  expect(await outputOf(first)).toEqual(['hello', 'hello'])
  expect(await outputOf(typed)).toEqual(['https://example.com/kelp', '1'])
  expect(await outputOf(refused)).toEqual(['no server there'])
  const printed = await outputOf(view)
  expect(printed).toContain('live')
  expect(printed.at(-2)).toBe("[ { type: 'text', text: 'hello' } ]")
  expect(printed.at(-1)).toBe('offline')
}, 60_000)
