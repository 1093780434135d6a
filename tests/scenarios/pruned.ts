import { expect } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { eventsUntil } from './world.ts'

export const echo = (ctx: AgentContext, prompt: string) => ctx.say(prompt)

/** A run that was answered, in a few commits. */
export async function answered(runtime: Runtime, thread: string, prompt: string): Promise<string> {
  const { id } = await runtime.run({ thread, agent: 'echo', prompt })
  await runtime.wait(id)
  return id
}

/** What is kept of a thread's log, which has no hole and ends at its head. */
export async function keptOf(runtime: Runtime, thread: string): Promise<{ first: number; head: number }> {
  const { first, head } = await runtime.thread(thread)
  const isAtHead = (event: { seq: number }) => event.seq >= head
  const events = head < first ? [] : await eventsUntil(runtime, { thread, after: first - 1 }, isAtHead)
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: head - first + 1 }, (_, n) => first + n))
  if (first > 1) {
    const early = runtime.logPage(thread, { after: first - 2 })
    await expect(early).rejects.toMatchObject({ code: 'offset_gone', facts: { first } })
  }
  return { first, head }
}

export const nothing = { threads: 0, events: 0, tasks: 0 }
