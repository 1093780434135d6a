import { describe, expect, it } from 'vitest'
import { withWayOut } from '../../../../src/cli/serving/start-conflict.ts'
import { HoldfastError } from '../../../../src/index.ts'
import { fakeSurroundings } from '../fake-surroundings.ts'

const { clock } = fakeSurroundings()

describe('what keeps a server from starting', () => {
  it('names the flag that is the way out of a file that is in use, whatever the store says of it', async () => {
    const facts = { path: '/data/held.db' }
    const held = new HoldfastError('store_locked', 'The file is in use. Name one that is free', { facts })
    expect(await withWayOut(held, clock)).toMatchObject({
      code: 'store_locked',
      message: 'The file is in use. Name one that is free with --store sqlite:PATH',
      facts,
    })
  })

  it('stays as it is for a store that is no file', async () => {
    const open = new HoldfastError('store_locked', 'The store is open. Close it, or name another file')
    expect(await withWayOut(open, clock)).toBe(open)
  })
})
