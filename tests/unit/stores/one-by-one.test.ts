import { expect, it } from 'vitest'
import { OneByOne } from '../../../src/stores/postgres/one-by-one.ts'

function held(happened: string[], name: string) {
  const gate = Promise.withResolvers<void>()
  const work = async () => {
    happened.push(`${name} began`)
    await gate.promise
    happened.push(`${name} ended`)
    return name
  }
  return { ...gate, work }
}

it('work that nothing is ahead of begins at once, other work when what is ahead of it is over, however that ended', async () => {
  const happened: string[] = []
  const turns = new OneByOne()
  const [first, second, third] = [held(happened, 'first'), held(happened, 'second'), held(happened, 'third')]
  const failed = turns.add(first.work)
  expect(happened).toEqual(['first began'])
  const done = turns.add(second.work)
  expect(happened).toEqual(['first began'])
  first.reject(new Error('refused'))
  second.resolve()
  await expect(failed).rejects.toThrow('refused')
  expect(await done).toBe('second')
  expect(happened).toEqual(['first began', 'second began', 'second ended'])
  void turns.add(third.work)
  expect(happened.at(-1)).toBe('third began')
  third.resolve()
  await turns.over()
  expect(happened.at(-1)).toBe('third ended')
})
