import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Outlet } from '../../../src/ai-sdk/outlet.ts'
import type { StreamPart } from '../../../src/ai-sdk/stream-part.ts'

const delta = (text: string): StreamPart => ({ type: 'text-delta', id: '1', delta: text })
const call: StreamPart = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' }
const surroundings = new AsyncLocalStorage<string>()

/** Reads all of a stream, noting the surroundings in which each part arrives. */
async function arrivals(outlet: Outlet): Promise<{ read: () => Promise<unknown>; seen: unknown[] }> {
  const seen: unknown[] = []
  const { stream } = await outlet.opened
  const note = new TransformStream<StreamPart, StreamPart>({
    transform: (part) => void seen.push([part.type, surroundings.getStore()]),
  })
  const reader = stream.pipeThrough(note).getReader()
  return { read: () => reader.read(), seen }
}

describe('an outlet', () => {
  it('hands parts on in the surroundings it was made in, wherever they come from', async () => {
    const outlet = surroundings.run('the loop', () => new Outlet(() => {}))
    outlet.open()
    const { read, seen } = await surroundings.run('the loop', () => arrivals(outlet))
    const end = surroundings.run('the loop', read)
    // From here on the loop waits for a part, and is called when there is one.
    await nextTurn()
    await surroundings.run('a step', async () => {
      outlet.push(delta('a'))
      await Promise.resolve()
      outlet.push(delta('b'))
      outlet.finish()
    })
    await end
    expect(seen).toEqual([
      ['text-delta', 'the loop'],
      ['text-delta', 'the loop'],
    ])
  })

  it('holds back what the loop acts upon until the step is recorded', async () => {
    const outlet = new Outlet(() => {})
    outlet.open()
    const reader = (await outlet.opened).stream.getReader()
    for (const part of [delta('a'), call, delta('b')]) outlet.push(part)
    expect(await reader.read()).toMatchObject({ value: delta('a') })
    let isRead = false
    const next = reader.read().finally(() => {
      isRead = true
    })
    await nextTurn()
    expect(isRead).toBe(false)
    outlet.finish()
    expect(await next).toEqual({ done: false, value: call })
    expect(await reader.read()).toEqual({ done: false, value: delta('b') })
    expect(await reader.read()).toMatchObject({ done: true })
  })

  it('fails before it is open by refusing, and after by breaking the stream', async () => {
    const refused = new Outlet(() => {})
    refused.fail(new Error('no'))
    await expect(refused.opened).rejects.toThrowError('no')
    const broken = new Outlet(() => {})
    broken.open()
    const reader = (await broken.opened).stream.getReader()
    broken.fail(new Error('cut'))
    await expect(reader.read()).rejects.toThrowError('cut')
  })

  it('tells when nobody reads any more, and takes what still comes', async () => {
    let leftCount = 0
    const outlet = new Outlet(() => {
      leftCount += 1
    })
    outlet.open()
    await (await outlet.opened).stream.cancel()
    outlet.push(delta('late'))
    outlet.finish()
    outlet.fail(new Error('late'))
    expect(leftCount).toBe(1)
  })
})
