import type { AgentContext } from '../../src/index.ts'

/** An agent whose runs each wait for the test, which tells them apart by their prompt. */
export interface HeldAgent {
  run(ctx: AgentContext, prompt: string): Promise<unknown>
  /** Resolves when the run of this prompt is at work. */
  started(prompt: string): Promise<AgentContext>
  /** Lets the run of this prompt go on, now or when it gets there: it does this and ends with what it gives. */
  release(prompt: string, finish?: (ctx: AgentContext) => unknown): void
  /** The prompts in the order in which their runs first began. */
  readonly begun: readonly string[]
}

type Finish = (ctx: AgentContext) => unknown

interface Held {
  readonly started: PromiseWithResolvers<AgentContext>
  readonly released: PromiseWithResolvers<Finish>
}

export function heldAgent(): HeldAgent {
  const holds = new Map<string, Held>()
  const begun: string[] = []

  function held(prompt: string): Held {
    const known = holds.get(prompt)
    if (known) return known
    const hold = { started: Promise.withResolvers<AgentContext>(), released: Promise.withResolvers<Finish>() }
    holds.set(prompt, hold)
    return hold
  }

  return {
    begun,
    async run(ctx, prompt) {
      if (!begun.includes(prompt)) begun.push(prompt)
      const { started, released } = held(prompt)
      started.resolve(ctx)
      const stopped = Promise.withResolvers<never>()
      ctx.signal.addEventListener('abort', () => stopped.reject(ctx.signal.reason))
      const finish = await Promise.race([released.promise, stopped.promise])
      return await finish(ctx)
    },
    started: (prompt) => held(prompt).started.promise,
    release: (prompt, finish = () => `did ${prompt}`) => held(prompt).released.resolve(finish),
  }
}
