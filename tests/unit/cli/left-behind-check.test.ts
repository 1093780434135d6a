import { describe, expect, it } from 'vitest'
import { leftBehindChecks } from '../../../src/cli/doctor/left-behind-check.ts'

const executing = [
  { node: 'node_a', agent: 'script', count: 1 },
  { node: 'node_b', agent: 'gone', count: 2 },
]
const held = { isHeld: true, executing }

describe('what a server left behind', () => {
  it('is all that was executed, if no server has the store open', () => {
    const checks = leftBehindChecks({ isHeld: false, executing }, { node: 'node_x', store: 'sqlite' })
    expect(checks).toMatchObject([
      { status: 'note', finding: '3 tasks belong to a server that is gone: 2 of gone, 1 of script' },
    ])
  })

  it('is what others executed than the server that answers, if that one executes some of the store', () => {
    expect(leftBehindChecks(held, { node: 'node_a' })).toMatchObject([
      { status: 'note', finding: '2 tasks belong to a server that is gone: 2 of gone' },
    ])
    const [own] = executing
    expect(leftBehindChecks({ ...held, executing: own ? [own] : [] }, { node: 'node_a' })).toMatchObject([
      { status: 'ok', finding: 'None was left behind' },
    ])
  })

  it('is not known if the server that answers executes nothing of the store', () => {
    expect(leftBehindChecks(held, { node: 'node_x', store: 'sqlite' })).toEqual([
      {
        name: 'tasks',
        status: 'note',
        finding: '3 tasks belong to another server than the one that answers: 2 of gone, 1 of script',
        advice: 'If the one that answers has this store open, the other is gone: put these agents into its config file',
      },
    ])
  })

  it('is not told if the server that answers is on a store of another kind, or none answers', () => {
    expect(leftBehindChecks(held, { node: 'node_x', store: 'postgres' })).toEqual([])
    expect(leftBehindChecks(held, { node: 'node_x' })).toEqual([])
    expect(leftBehindChecks(held, {})).toEqual([])
  })

  it('is nothing if nothing is executed, whoever answers', () => {
    expect(leftBehindChecks({ isHeld: true, executing: [] }, {})).toMatchObject([{ status: 'ok' }])
  })

  it('is not told of a store that was not read', () => {
    expect(leftBehindChecks({ isHeld: false }, { node: 'node_x', store: 'sqlite' })).toEqual([])
  })
})
