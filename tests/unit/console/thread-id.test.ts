import { expect, it } from 'vitest'
import { isThreadId } from '../../../console/src/palette/thread-id.ts'
import { threadPattern } from '../../../src/core/id.ts'

it('the console takes for the id of a thread what the server does', () => {
  expect(isThreadId).toEqual(threadPattern)
})
