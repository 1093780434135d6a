import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { shellArgument, shellWord } from '../../../console/src/design/shell-word.ts'

it.each(['bg_1', 'a b', "it's", '~', '$HOME', 'a;b', '*', 'https://a.test/x?y=1&z'])('%s is one word', (text) => {
  expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`]).toString()).toBe(text)
})

it('what looks like a flag is told from one', () => {
  expect(shellArgument('--all')).toBe('-- --all')
  expect(shellArgument('a b')).toBe("'a b'")
})
