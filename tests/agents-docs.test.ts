import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printedBy, programUnder } from './docs-program.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/agents.md'), 'utf8')
const printed = (heading: string) => printedBy(programUnder(heading, page))

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
