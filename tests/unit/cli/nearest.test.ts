import { expect, it } from 'vitest'
import { nearest } from '../../../src/cli/nearest.ts'

it.each([
  ['prot', 'port'],
  ['hots', 'hosts'],
  ['STORE', 'store'],
  ['stor', 'store'],
  ['sotre', 'store'],
  ['depth', 'treeDepth'],
  ['pz', 'ps'],
])('the word nearest to %j is %s', (mistyped, meant) => {
  expect(nearest(mistyped, ['port', 'hosts', 'store', 'treeDepth', 'ps'])).toBe(meant)
})

it.each(['bogus', 'xyzzy', 'kill', 'nope', ''])('none is near %j', (mistyped) => {
  expect(nearest(mistyped, ['logs', 'port', 'ps', 'tree', 'run', 'help'])).toBeUndefined()
})

it('there is none among no words', () => {
  expect(nearest('x', [])).toBeUndefined()
})
