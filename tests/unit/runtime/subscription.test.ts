import { describe, expect, it } from 'vitest'
import type { LogCursor } from '../../../src/runtime/log-cursor.ts'
import { Subscription } from '../../../src/runtime/subscription.ts'

const away = new Error('The store is away')

describe('a subscription whose log cannot be opened', () => {
  it('says why, and then is at its end', async () => {
    const subscription = new Subscription(() => Promise.reject(away))
    await expect(subscription.next()).rejects.toBe(away)
    expect(await subscription.next()).toMatchObject({ done: true })
  })

  it('is at its end for whoever has left it before', async () => {
    const opening = Promise.withResolvers<LogCursor>()
    const subscription = new Subscription(() => opening.promise)
    const next = subscription.next()
    await subscription.return()
    opening.reject(away)
    expect(await next).toMatchObject({ done: true })
  })
})
