import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { StopError, unlessStopped } from '../../../src/runtime/stop.ts'

const stopped = new StopError('cancel')

it('gives what the promise gives, or throws what it throws', async () => {
  const { signal } = new AbortController()
  expect(await unlessStopped(signal, Promise.resolve(1))).toBe(1)
  await expect(unlessStopped(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

it('rejects with the reason of a signal that fires', async () => {
  const controller = new AbortController()
  const waiting = unlessStopped(controller.signal, new Promise(() => {}))
  controller.abort(stopped)
  await expect(waiting).rejects.toBe(stopped)
})

it('leaves no rejection unhandled that comes when nobody waits any more', async () => {
  const strays: unknown[] = []
  const listener = (reason: unknown) => strays.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener)
  onTestFinished(() => {
    process.off('unhandledRejection', listener)
    for (const other of others) process.on('unhandledRejection', other)
  })
  const late = Promise.reject(new Error('late'))
  await expect(unlessStopped(AbortSignal.abort(stopped), late)).rejects.toBe(stopped)
  await nextTurn()
  expect(strays).toEqual([])
})
