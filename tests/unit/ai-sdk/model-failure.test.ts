import { describe, expect, it } from 'vitest'
import { failureError, modelFailure } from '../../../src/ai-sdk/model-failure.ts'
import { thrownOutcome } from '../../../src/core/outcome.ts'

/** As the next attempt meets it, from a record. */
function metAgain(thrown: unknown): Error {
  return failureError(JSON.parse(JSON.stringify(modelFailure(thrown))) as ReturnType<typeof modelFailure>)
}

describe('a failure of a model that is met again', () => {
  it.each([
    ['an error', new Error('broke')],
    ['an error without words', new TypeError('')],
    ['a text', 'broke'],
    ['an object, as a stream may hold one', { type: 'server_error', message: 'broke' }],
    ['nothing', undefined],
    ['what JSON cannot hold', 7n],
  ])('ends its task as it did the first time: %s', (_what, thrown) => {
    expect(thrownOutcome(metAgain(thrown))).toEqual(thrownOutcome(thrown))
  })
})
