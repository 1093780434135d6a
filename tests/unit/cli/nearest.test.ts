import { expect, it } from 'vitest'
import { nearest } from '../../../src/cli/nearest.ts'

it.each([
  ['prot', 'port'],
  ['hots', 'hosts'],
  ['STORE', 'store'],
  ['stor', 'store'],
  ['xyzzy', 'port'],
  ['', 'port'],
])('the word nearest to %j is %s', (mistyped, meant) => {
  expect(nearest(mistyped, ['port', 'hosts', 'store'])).toBe(meant)
})

it('there is none among no words', () => {
  expect(nearest('x', [])).toBeUndefined()
})
