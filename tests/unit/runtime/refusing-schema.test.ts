import { describe, expect, it } from 'vitest'
import { refusingSchema } from '../../../src/runtime/agents/refusing-schema.ts'

const schema = refusingSchema((input) => (input === 7 ? [] : [{ message: 'it is 7' }]))
const validate = (value: unknown) => schema['~standard'].validate(value)

describe('a schema that refuses', () => {
  it('lets through what is right as it is, and says what is wrong of the rest', () => {
    expect(validate(7)).toEqual({ value: 7 })
    expect(validate(8)).toEqual({ issues: [{ message: 'it is 7' }] })
    expect(validate(undefined)).toEqual({ issues: [{ message: 'it is 7' }] })
  })

  it.each(['a prompt', [{ type: 'text', text: 'parts' }]])('lets %j through, which is no input', (asked) => {
    expect(validate(asked)).toEqual({ value: asked })
  })
})
