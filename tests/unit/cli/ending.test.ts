import { describe, expect, it } from 'vitest'
import { Ending } from '../../../src/cli/ending.ts'
import { fakeSurroundings } from './fake-surroundings.ts'

const never = new Promise<never>(() => {})

describe('a command', () => {
  it('ends with what its work resolves with, and leaves nothing set', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around, 1000)
    expect(ending.signal.aborted).toBe(false)
    expect(await ending.of(Promise.resolve(3))).toBe(3)
    around.fireTimers()
    around.interrupt()
    expect(ending.signal.aborted).toBe(false)
  })

  it('rejects with what its work rejects with', async () => {
    await expect(new Ending(fakeSurroundings()).of(Promise.reject(new Error('x')))).rejects.toThrow('x')
  })

  it('ends with 124 when its time is over, though its work rejects because of that', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around, 1000)
    const work = new Promise<number>((_resolve, reject) => {
      ending.signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
    const code = ending.of(work)
    around.fireTimers()
    expect(await code).toBe(124)
  })

  it('ends with 130 at an interrupt, after its work had a moment to tidy up', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around)
    let isTidy = false
    const work = new Promise<undefined>((resolve) => {
      ending.signal.addEventListener('abort', () => {
        setImmediate(() => {
          isTidy = true
          resolve(undefined)
        })
      })
    })
    const code = ending.of(work)
    around.interrupt()
    expect([await code, isTidy]).toEqual([130, true])
  })

  it('does not wait longer than that moment for work that does not stop', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around)
    expect(ending.signal.aborted).toBe(false)
    const code = ending.of(never)
    around.interrupt()
    await Promise.resolve()
    await Promise.resolve()
    around.fireTimers()
    expect(await code).toBe(130)
  })

  it('takes interrupts itself for as long as it wants to, the last who asked first', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around)
    const taken: string[] = []
    const stopOne = ending.takeInterrupts(() => void taken.push('one'))
    const stopTwo = ending.takeInterrupts(() => void taken.push('two'))
    const code = ending.of(never.catch(() => undefined))
    around.interrupt()
    stopTwo()
    around.interrupt()
    stopOne()
    expect(taken).toEqual(['two', 'one'])
    around.interrupt()
    await Promise.resolve()
    await Promise.resolve()
    around.fireTimers()
    expect(await code).toBe(130)
  })

  it('ends with 0 when nobody reads what it says', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around)
    const aborted = new Promise<undefined>((resolve) => {
      ending.signal.addEventListener('abort', () => resolve(undefined))
    })
    const code = ending.of(aborted)
    around.closeOutput()
    expect(await code).toBe(0)
  })

  it('leaves signals and output alone until it looks at its signal', async () => {
    const around = fakeSurroundings()
    const ending = new Ending(around)
    const { promise, resolve } = Promise.withResolvers<number>()
    const code = ending.of(promise)
    around.interrupt()
    around.closeOutput()
    resolve(7)
    expect(await code).toBe(7)
  })
})
